import pathlib
import unittest


class It(unittest.TestCase):
    def test_it(self) -> None:
        self.assertFalse(pathlib.Path("broken").exists())
