"""Certificates, and a slow line, for receivers of TLS."""

import datetime
import ipaddress
import os
import socket
import struct
import threading
import time

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

TLS_HEADER_BYTES = 5
TLS_ENCRYPTED = 23


class Authority:
    """A certificate authority in a folder."""

    def __init__(self, folder):
        self.folder = folder
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "drill")])
        self.file = self.sign(self.name, self.key, "ca", (-1, 1), [(x509.BasicConstraints(True, None), True)])

    def issue(self, name, names, days=(-1, 1)):
        """The files of a certificate and its key. It is valid from and until so many days from now."""
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, names[0])])
        alternatives = [
            x509.IPAddress(ipaddress.ip_address(one)) if one[0].isdigit() else x509.DNSName(one) for one in names
        ]
        extensions = [(x509.SubjectAlternativeName(alternatives), False), (x509.BasicConstraints(False, None), True)]
        certificate = self.sign(subject, key, name, days, extensions)
        key_file = os.path.join(self.folder, f"{name}.key")
        text = key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        with open(key_file, "wb") as file:
            file.write(text)
        return certificate, key_file

    def sign(self, subject, key, name, days, extensions):
        now = datetime.datetime.now(datetime.timezone.utc)
        begin, end = (now + datetime.timedelta(days=count) for count in days)
        builder = x509.CertificateBuilder(self.name, subject, key.public_key(), x509.random_serial_number(), begin, end)
        for extension, is_critical in extensions:
            builder = builder.add_extension(extension, is_critical)
        path = os.path.join(self.folder, f"{name}.pem")
        with open(path, "wb") as file:
            file.write(builder.sign(self.key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM))
        return path


class Line:
    """A line to a receiver of TLS whose round trip takes `seconds`: what a client sends after the messages of its handshake arrives so
    much later."""

    def __init__(self, port, seconds):
        self.target = port
        self.seconds = seconds
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            client, _ = self.listener.accept()
            receiver = socket.create_connection(("127.0.0.1", self.target))
            for pump, ends in ((self.forward, (client, receiver)), (self.answer, (receiver, client))):
                threading.Thread(target=self.carry, args=(pump, *ends), daemon=True).start()

    def carry(self, pump, source, sink):
        try:
            pump(source, sink)
            sink.shutdown(socket.SHUT_WR)
        except OSError:
            for end in (source, sink):
                # A reset on one side is a reset on the other.
                end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                end.close()

    def forward(self, source, sink):
        """Record by record. The first that is encrypted has the client's certificate."""
        encrypted = 0
        with source.makefile("rb") as records:
            while len(header := records.read(TLS_HEADER_BYTES)) == TLS_HEADER_BYTES:
                encrypted += header[0] == TLS_ENCRYPTED
                if encrypted == 2 and header[0] == TLS_ENCRYPTED:
                    time.sleep(self.seconds)
                sink.sendall(header + records.read(int.from_bytes(header[3:], "big")))

    @staticmethod
    def answer(source, sink):
        while data := source.recv(65_536):
            sink.sendall(data)
