"""The testbed's container images: static programs compiled from images/*.cpp, packed without any container tool.

One archive holds all of them, in the format of `docker save`, which containerd imports. Compiled once for each state of
the sources, into $XDG_CACHE_HOME/evenkeel/testbed/<hash>.
"""
import hashlib
import io
import json
import os
import pathlib
import platform
import re
import subprocess
import tarfile

SOURCES = pathlib.Path(__file__).resolve().parent / "images"
NAMES = ["pause", "video", "net", "disk", "web", "kernels", "service", "shop"]
FLAGS = ["-std=c++20", "-O2", "-static", "-pthread", "-s"]
ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}


class BuildFailed(Exception):
    """What the compiler said."""


def reference(name):
    """No registry: nothing could be pulled by this name, so pods say imagePullPolicy: Never."""
    return f"localhost/evenkeel/{name}:1"


def build():
    """(archive of all images, folder of the programs)"""
    texts = b"".join(path.read_bytes() for path in sorted(SOURCES.iterdir())) + pathlib.Path(__file__).read_bytes()
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache")
    folder = cache / "evenkeel/testbed" / hashlib.sha256(texts + platform.machine().encode()).hexdigest()[:12]
    archive = folder / "images.tar"
    if not archive.exists():
        folder.mkdir(parents=True, exist_ok=True)
        for name in NAMES:
            compile_program(SOURCES / f"{name}.cpp", folder / name)
        partial = folder / f"images.{os.getpid()}"
        partial.write_bytes(pack({name: {name: (folder / name).read_bytes()} for name in NAMES}))
        partial.replace(archive)
    return archive, folder


def of_machine(name, programs, archive):
    """An image of programs that this machine has, {path in the image: path here}, with the libraries they want. The first one
    is what it runs."""
    files = {inside: pathlib.Path(here).read_bytes() for inside, here in programs.items()}
    for here in programs.values():
        said = subprocess.run(["ldd", here], capture_output=True, text=True).stdout
        for library in re.findall(r"(/\S+) \(0x", said):
            files[library.lstrip("/")] = pathlib.Path(library).read_bytes()
    pathlib.Path(archive).write_bytes(pack({name: files}))


def compile_program(source, program):
    partial = program.with_suffix(f".{os.getpid()}")  # two at once must not see each other's halves
    done = subprocess.run([os.environ.get("CXX", "g++"), *FLAGS, "-o", partial, source], capture_output=True, text=True)
    if done.returncode != 0:
        raise BuildFailed(f"{source.name}: {done.stderr.strip()}")
    partial.replace(program)


def pack(programs):
    """Archive of one image for each of {name: {path: data}}: a layer with those files alone; the first is what it runs."""
    files, manifest = {}, []
    for name, contents in programs.items():
        layer = tar({path: (data, 0o755) for path, data in contents.items()})
        config = json.dumps({"architecture": ARCHITECTURES[platform.machine()], "os": "linux",
                             "config": {"Entrypoint": [f"/{next(iter(contents))}"], "WorkingDir": "/"},
                             "rootfs": {"type": "layers", "diff_ids": [f"sha256:{digest(layer)}"]}}).encode()
        files[f"{digest(layer)}.tar"] = (layer, 0o644)
        files[f"{digest(config)}.json"] = (config, 0o644)
        manifest.append({"Config": f"{digest(config)}.json", "RepoTags": [reference(name)],
                         "Layers": [f"{digest(layer)}.tar"]})
    files["manifest.json"] = (json.dumps(manifest).encode(), 0o644)
    return tar(files)


def tar(files):
    """The same bytes for the same files: no times, no owners."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, (data, mode) in files.items():
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode = len(data), mode
            archive.addfile(entry, io.BytesIO(data))
    return out.getvalue()


def digest(data):
    return hashlib.sha256(data).hexdigest()
