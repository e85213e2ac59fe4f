"""Histories: text to turns, SillyTavern chat files, tool groups, windows."""
