"""Inputs nobody would write, thrown at whatever reads what others wrote: `make fuzz`, and a short form in the tests."""
