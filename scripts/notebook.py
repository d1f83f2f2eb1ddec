"""Runs a notebook and keeps its outputs, without what differs from run to run.

    LEDGERLAKE_DATA=FOLDER python3 scripts/notebook.py docs/analytics/notebook/supply.ipynb
"""

import sys

import nbclient
import nbformat

for path in sys.argv[1:]:
    notebook = nbformat.read(path, as_version=4)
    nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)  # times
        for output in cell.get("outputs", []):
            if "data" in output:
                output.data.pop("text/plain", None)  # such as the address of a figure
    notebook.metadata = {"kernelspec": notebook.metadata["kernelspec"], "language_info": {"name": "python"}}
    nbformat.write(notebook, path)
