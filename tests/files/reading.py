"""Reading that must fail, and files to read."""

import pytest

from partwise.files import ReadError, read


def refuse(path, sentence, **options):
    with pytest.raises(ReadError, match=sentence) as caught:
        read(path, **options)
    message = str(caught.value)
    assert message.endswith(".")
    assert "\n" not in message


def write(path, text):
    path.write_text(text, encoding="utf-8")
    return path
