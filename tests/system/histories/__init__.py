"""Histories: commands that others write alongside, with faults wherever a request crosses to the engine.

A history is a value (`history`): the documents at the start, a command, and what happens at which of
its requests. hypothesis draws it, and makes one that fails smaller. What must hold afterwards is read from the server
and compared with what the others know to have written.
"""
