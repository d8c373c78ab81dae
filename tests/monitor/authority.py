"""Certificates for tests."""
import pathlib
import subprocess


def run(*command, **more):
    return subprocess.run([str(part) for part in command], check=True, capture_output=True, text=True, **more)


class Authority:
    """Signs certificates with the openssl program."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir()
        self.pem, self.key = self.folder / "ca.pem", self.folder / "ca.key"
        run("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "1",
            "-subj", "/CN=authority", "-keyout", self.key, "-out", self.pem)

    def issue(self, name, common_name, extra="basicConstraints=CA:FALSE"):
        certificate, key = self.folder / f"{name}.pem", self.folder / f"{name}.key"
        request, extensions = self.folder / f"{name}.csr", self.folder / f"{name}.ext"
        extensions.write_text(extra + "\n")
        run("openssl", "req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
            "-subj", f"/CN={common_name}", "-keyout", key, "-out", request)
        run("openssl", "x509", "-req", "-in", request, "-CA", self.pem, "-CAkey", self.key, "-CAcreateserial",
            "-days", "1", "-extfile", extensions, "-out", certificate)
        return certificate, key
