"""The examples of docs/python.md that run as they stand."""

import re
import unittest

from support import ROOT, Case, torch_or_skip

torch_or_skip()


class DocsTest(Case):
    def test_examples(self):
        text = (ROOT / "docs" / "python.md").read_text()
        examples = [e for e in re.findall(r"```python\n(.*?)```", text, re.S) if "import" in e]
        self.assertEqual(len(examples), 2)
        for example in examples:
            names = {}
            exec(compile(example, "docs/python.md", "exec"), names)
            if "sg" in names:
                self.assertEqual(names["sg"].last.steps_scaled, 500)
                self.assertEqual(names["sg"].last.steps_inactive, 500)
                self.assertLess(names["loss"].item(), 0.05)
            else:
                self.assertEqual(names["report"].outcome, "scaled")


if __name__ == "__main__":
    unittest.main()
