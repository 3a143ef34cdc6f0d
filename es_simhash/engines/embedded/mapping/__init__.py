"""Mappings: their JSON form, their fields, and how documents are turned into the terms they are found by."""
