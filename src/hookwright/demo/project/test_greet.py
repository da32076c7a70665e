import unittest

from greet import greet


class Greet(unittest.TestCase):
    def test_greeting_has_a_comma_and_a_full_stop(self):
        self.assertEqual(greet("Ada"), "Hello, Ada.")
