"""The macro language of SillyTavern 1.19 (new and legacy engine) and the native dialect's subset."""
