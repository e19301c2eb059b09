"""Opens pages in headless Chromium."""

import os
import re
import shutil
import subprocess
import tempfile

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


def opened(path, script=""):
    """Runs the page's scripts and then `script`; returns (HTML text, list of console messages)."""
    with tempfile.TemporaryDirectory() as folder:
        page = os.path.join(folder, "page.html")
        with open(path, encoding="utf-8") as source, open(page, "w", encoding="utf-8") as target:
            text = source.read()
            target.write(text.replace("</body>", f"<script>{script}</script></body>") if script else text)
        result = subprocess.run(
            [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-dev-shm-usage",
             f"--user-data-dir={folder}/profile", "--host-resolver-rules=MAP * ~NOTFOUND",
             "--enable-logging=stderr", "--virtual-time-budget=5000", "--dump-dom", "file://" + page],
            capture_output=True, text=True, timeout=300)
    console = re.findall(r":CONSOLE[^\]]*\] (.*)", result.stderr)
    if "</html>" not in result.stdout:
        raise AssertionError(f"{path}: expected a rendered page, found: {result.stderr[-2000:]}")
    return result.stdout, console
