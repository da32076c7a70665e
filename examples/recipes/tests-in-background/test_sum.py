import unittest


class Sum(unittest.TestCase):
    def test_sum(self) -> None:
        self.assertEqual(1 + 1, 2)
