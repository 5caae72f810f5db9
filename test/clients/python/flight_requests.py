"""What calls of Arrow Flight carry: tickets and commands by hand, sign-in by a handshake, and the trailers that come back."""

from pyarrow import flight


def varint(number):
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes(out) + bytes([number])


def field(number, content):
    """A field of bytes of a protobuf message."""
    return varint(number << 3 | 2) + varint(len(content)) + content


def request(sql, database="public", login=None):
    """GreptimeRequest {header {authorization {basic}, dbname}, query {sql}}."""
    basic = b"" if login is None else field(3, field(1, field(1, login[0].encode()) + field(2, login[1].encode())))
    return field(1, basic + field(4, database.encode())) + field(3, field(1, sql.encode()))


def answer(client, sql, options=None, **header):
    """The rows of a statement."""
    return client.do_get(flight.Ticket(request(sql, **header)), options).read_all()


def sql_command(sql):
    """CommandStatementQuery of Flight SQL in an Any: what runs a statement without rows, which DoGet of pyarrow takes for a broken stream."""
    name = b"type.googleapis.com/arrow.flight.protocol.sql.CommandStatementQuery"
    return field(1, name) + field(2, field(1, sql.encode()))


class Trailers(flight.ClientMiddlewareFactory):
    """Keeps the metadata that came with the last call, trailers included."""

    def __init__(self):
        super().__init__()
        self.seen = {}

    def start_call(self, info):
        self.seen = {}
        seen = self.seen

        class Middleware(flight.ClientMiddleware):
            def received_headers(self, headers):
                for name, values in headers.items():
                    seen[name.lower()] = values[0]

        return Middleware()

    def __getitem__(self, name):
        value = self.seen.get(name)
        return value.decode() if isinstance(value, bytes) else value


class Basic(flight.ClientAuthHandler):
    """Signs in by a message of the handshake; the server gives the token that calls bring."""

    def __init__(self, name, password):
        super().__init__()
        self.login = flight.BasicAuth(name, password)
        self.token = None

    def authenticate(self, outgoing, incoming):
        outgoing.write(self.login.serialize())
        self.token = incoming.read()

    def get_token(self):
        return self.token
