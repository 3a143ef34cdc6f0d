"""Mappings: their JSON form, their fields, and the terms that they make of documents."""
