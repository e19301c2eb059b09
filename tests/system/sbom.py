"""The bill of materials (packaging/make-sbom) and the licences: sbom.py SOURCE-FOLDER VERSION. Checksums are computed again
from the files, the rest is checked against the rules of SPDX 2.3 and the tables of cmake/setup.sh."""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import unittest

VERSION = sys.argv.pop()
ROOT = sys.argv.pop()


class Sbom(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        made = subprocess.run([os.path.join(ROOT, "packaging", "make-sbom"), ROOT, VERSION], capture_output=True, text=True)
        assert made.returncode == 0, made.stderr
        cls.document = json.loads(made.stdout)

    def test_the_document_follows_spdx(self):
        d = self.document
        self.assertEqual((d["spdxVersion"], d["dataLicense"], d["SPDXID"]), ("SPDX-2.3", "CC0-1.0", "SPDXRef-DOCUMENT"))
        self.assertRegex(d["creationInfo"]["created"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")
        self.assertTrue(d["creationInfo"]["creators"])
        self.assertRegex(d["documentNamespace"], r"^https?://[^#]+$")
        ids = [entry["SPDXID"] for entry in (d, *d["packages"], *d["files"])]
        self.assertEqual(len(ids), len(set(ids)), "identifiers are unique")
        for name in ids:
            self.assertRegex(name, r"^SPDXRef-[A-Za-z0-9.-]+$")
        for r in d["relationships"]:
            self.assertIn(r["spdxElementId"], ids)
            self.assertIn(r["relatedSpdxElement"], ids)
        for package in d["packages"]:
            for field in ("name", "versionInfo", "downloadLocation", "licenseConcluded", "licenseDeclared", "copyrightText"):
                self.assertTrue(package[field], (package["name"], field))

    def test_every_file_has_its_checksums(self):
        listed = subprocess.run(["git", "-C", ROOT, "ls-files", "-z"], capture_output=True, text=True).stdout
        if listed:
            expected = {"./" + p for p in listed.split("\0") if os.path.isfile(os.path.join(ROOT, p))}
            self.assertEqual({entry["fileName"] for entry in self.document["files"]}, expected)
        sums = []
        for entry in self.document["files"]:
            with open(os.path.join(ROOT, entry["fileName"]), "rb") as file:
                content = file.read()
            found = {c["algorithm"]: c["checksumValue"] for c in entry["checksums"]}
            self.assertEqual(found, {"SHA1": hashlib.sha1(content).hexdigest(), "SHA256": hashlib.sha256(content).hexdigest()})
            sums.append(found["SHA1"])
        tactus = next(p for p in self.document["packages"] if p["name"] == "tactus")
        self.assertEqual(tactus["versionInfo"], VERSION)
        self.assertEqual(tactus["packageVerificationCode"]["packageVerificationCodeValue"],
                         hashlib.sha1("".join(sorted(sums)).encode()).hexdigest())
        self.assertGreater(len(sums), 500)

    def test_every_debian_package_of_the_tables_is_listed_and_three_js(self):
        with open(os.path.join(ROOT, "cmake", "setup.sh"), encoding="utf-8") as file:
            tables = re.findall(r"^packages_\w+='\n(.*?)^'", file.read(), re.S | re.M)
        expected = {line.split()[0] for table in tables for line in table.splitlines()} | {"three"}  # from npm
        found = {p["name"] for p in self.document["packages"]} - {"tactus"}
        self.assertEqual(found, expected)
        related = {r["spdxElementId"] for r in self.document["relationships"] if r["relatedSpdxElement"] == "SPDXRef-Tactus"}
        self.assertEqual(len(related), len(found) + 1)  # and the document

    def test_every_file_has_a_licence(self):
        with open(os.path.join(ROOT, "LICENSE"), encoding="utf-8") as file:
            words = file.read().split("\n", 4)[4].split()
        with open(os.path.join(ROOT, "packaging", "copyright"), encoding="utf-8") as file:
            text = re.sub(r"^ \.$", "", file.read().split("License: BSD-3-Clause\n", 1)[1], flags=re.M)
        self.assertEqual(text.split(), words)
        if os.environ.get("TACTUS_TEST_LONG") != "1":
            return  # it takes seconds
        if not shutil.which("reuse"):
            self.skipTest("no reuse: the licences of the files are not checked")
        lint = subprocess.run(["reuse", "--root", ROOT, "lint"], capture_output=True, text=True)
        self.assertEqual(lint.returncode, 0, lint.stdout)


if __name__ == "__main__":
    unittest.main()
