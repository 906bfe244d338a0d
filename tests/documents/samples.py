"""Word documents, harmless and hostile ones."""

from io import BytesIO
from zipfile import ZIP_DEFLATED, ZipFile

TYPES = (
    '<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    '<Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument'
    '.wordprocessingml.document.main+xml"/></Types>'
)
RELATIONS = (
    '<?xml version="1.0"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
    '<Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/'
    'officeDocument" Target="word/document.xml"/></Relationships>'
)
BODY = (
    '<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>{}'
    "</w:body></w:document>"
)
PARAGRAPH = "<w:p><w:r>{style}<w:t>{text}</w:t></w:r></w:p>"


def document(*paragraphs: str, before: str = "", entry: bytes = b"") -> bytes:
    """A document with these paragraphs, the first one bold; `before` stands before its root.

    `entry` are the bytes of one more file in it.
    """
    styles = ["<w:rPr><w:b/></w:rPr>", *[""] * len(paragraphs)]
    content = "".join(
        PARAGRAPH.format(style=style, text=text) for style, text in zip(styles, paragraphs, strict=False)
    )
    file = BytesIO()
    with ZipFile(file, "w", ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", TYPES)
        archive.writestr("_rels/.rels", RELATIONS)
        archive.writestr("word/document.xml", f'<?xml version="1.0"?>{before}{BODY.format(content)}')
        if entry:
            archive.writestr("word/media.bin", entry)
    return file.getvalue()


def bomb(size: int) -> bytes:
    """A document with an entry that unpacks to `size` zeros."""
    return document("Hello", entry=bytes(size))
