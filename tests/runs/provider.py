"""A provider that says exactly what a test wants."""

import httpx2


class Provider(httpx2.AsyncBaseTransport):
    """Streams the given parts, each in a chunk of its own, and keeps what it was sent."""

    def __init__(self) -> None:
        self.parts: list[bytes] = []
        self.requests: list[bytes] = []
        self.last = (
            b'{"candidates":[{"content":{"parts":[{"text":""}],"role":"model"},"finishReason":"STOP"}]}'
        )

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        if request.url.path.endswith(":streamGenerateContent"):
            self.requests.append(await request.aread())
        chunks = [b'{"candidates":[{"content":{"parts":[%b],"role":"model"}}]}' % part for part in self.parts]
        body = b"".join(b"data: %b\r\n\r\n" % chunk for chunk in [*chunks, self.last])
        return httpx2.Response(200, content=body)
