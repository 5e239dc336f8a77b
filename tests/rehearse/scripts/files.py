# SPDX-License-Identifier: Apache-2.0
"""Changes files that were there before in every way scripts do, and checks that it sees its own changes."""
import ctypes
import errno
import os
import pathlib
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import threading

import numpy
import torch

torch.ones(1, device="cuda")
OLD = "old\n"
FOLDER = pathlib.Path(sys.argv[1])


def text(name):
    return (FOLDER / name).read_text()


def names(folder="."):
    return sorted(os.listdir(FOLDER / folder))


def writes():
    (FOLDER / "write.txt").write_text("new")
    assert text("write.txt") == "new"
    with open(FOLDER / "append.log", "a") as log:
        log.write("more\n")
    assert text("append.log") == OLD + "more\n"
    with open(FOLDER / "update.txt", "r+") as file:
        file.write("N")
    assert text("update.txt") == "Nld\n"
    os.truncate(FOLDER / "truncate.txt", 1)
    assert text("truncate.txt") == "o"
    try:
        open(FOLDER / "exclusive.txt", "x")
        raise AssertionError("it is there")
    except FileExistsError:
        pass


def mapped():
    values = numpy.memmap(FOLDER / "map.bin", dtype="u1", mode="r+", shape=(10,))
    values[3] = 7
    values.flush()
    assert (FOLDER / "map.bin").read_bytes()[3] == 7


def through_libc():
    libc = ctypes.CDLL(None)
    libc.fopen.restype = ctypes.c_void_p
    for name, mode, expected in (("libc_w.txt", b"w", "new"), ("libc_a.txt", b"a", OLD + "new")):
        stream = ctypes.c_void_p(libc.fopen(os.fsencode(FOLDER / name), mode))
        libc.fputs(b"new", stream)
        libc.fclose(stream)
        assert text(name) == expected


def deletes():
    os.remove(FOLDER / "delete.txt")
    assert not (FOLDER / "delete.txt").exists() and "delete.txt" not in names()
    try:
        open(FOLDER / "delete.txt")
        raise AssertionError("it was deleted")
    except FileNotFoundError:
        pass
    os.remove(FOLDER / "again.txt")
    (FOLDER / "again.txt").write_text("again")
    assert text("again.txt") == "again" and "again.txt" in names()


def renames():
    (FOLDER / "over.tmp").write_text("new")
    os.replace(FOLDER / "over.tmp", FOLDER / "over.txt")
    assert text("over.txt") == "new" and "over.tmp" not in names()
    os.rename(FOLDER / "away.txt", FOLDER / "away.bak")
    assert text("away.bak") == OLD and "away.txt" not in names()
    with tempfile.NamedTemporaryFile(dir=FOLDER, delete=False) as file:
        file.write(b"new")
    os.replace(file.name, FOLDER / "temporary.txt")
    assert text("temporary.txt") == "new"
    os.makedirs(FOLDER / "stage")
    (FOLDER / "stage/weights").write_text("new")
    os.rename(FOLDER / "stage", FOLDER / "final")
    assert text("final/weights") == "new" and "stage" not in names()


def folders():
    shutil.rmtree(FOLDER / "checkpoint")
    assert not (FOLDER / "checkpoint").exists() and "checkpoint" not in names()
    os.makedirs(FOLDER / "checkpoint/deep")
    assert names("checkpoint") == ["deep"] and names("checkpoint/deep") == []
    (FOLDER / "checkpoint/deep/file").write_text("new")
    assert text("checkpoint/deep/file") == "new" and names("checkpoint/deep") == ["file"]
    shutil.move(FOLDER / "moved", FOLDER / "moved.old")
    assert text("moved.old/file") == OLD and "moved" not in names()
    os.makedirs(FOLDER / "next")
    (FOLDER / "next/file").write_text("new")
    (FOLDER / "next/other").write_text("new")
    os.rename(FOLDER / "next", FOLDER / "moved")
    assert text("moved/file") == "new" and names("moved") == ["file", "other"]
    try:
        os.rename(FOLDER / "kept", FOLDER / "kept.old")
        raise AssertionError("a folder that was there cannot be renamed")
    except OSError as error:
        assert error.errno == errno.EXDEV
    os.remove(FOLDER / "becomes")
    os.mkdir(FOLDER / "becomes")
    (FOLDER / "becomes/file").write_text("new")
    assert names("becomes") == ["file"] and next(e for e in os.scandir(FOLDER) if e.name == "becomes").is_dir()


def links():
    os.remove(FOLDER / "latest")
    os.symlink("write.txt", FOLDER / "latest")
    assert os.readlink(FOLDER / "latest") == "write.txt" and text("latest") == "new"
    os.symlink("append.log", FOLDER / "latest.tmp")
    os.replace(FOLDER / "latest.tmp", FOLDER / "latest")
    assert os.path.realpath(FOLDER / "latest") == str(FOLDER / "append.log")
    os.link(FOLDER / "linked.txt", FOLDER / "second_name.txt")
    (FOLDER / "second_name.txt").write_text("new")
    assert text("linked.txt") == OLD
    (FOLDER / "through_link.txt").write_text("new")  # a link to target.txt
    assert text("target.txt") == "new"


def other_ways():
    database = sqlite3.connect(FOLDER / "database.db")
    database.execute("insert into numbers values (5)")
    database.commit()
    assert database.execute("select sum(x) from numbers").fetchone() == (6,)
    database.close()
    subprocess.run(["sh", "-c", "echo new > shell.txt; rm -r shell_folder; sed -i s/old/new/ sed.txt; mv mv.txt mv.new"],
                   cwd=FOLDER, check=True)
    assert text("shell.txt") == "new\n" and text("sed.txt") == "new\n" and text("mv.new") == OLD
    subprocess.run(["/bin/sh", "-c", "echo new > bare.txt"], cwd=FOLDER, env={}, check=True)
    assert text("bare.txt") == "new\n"
    unnamed = os.open(FOLDER, os.O_TMPFILE | os.O_RDWR)
    os.remove(FOLDER / "unnamed.txt")
    os.link(f"/proc/self/fd/{unnamed}", FOLDER / "unnamed.txt", src_dir_fd=unnamed, follow_symlinks=True)
    assert text("unnamed.txt") == ""
    assert "shell_folder" not in names() and "mv.txt" not in names()
    os.chmod(FOLDER / "mode.txt", 0o600)
    os.utime(FOLDER / "mode.txt", (1, 1))
    folder = os.open(FOLDER, os.O_RDONLY)
    os.close(os.open("relative.txt", os.O_WRONLY | os.O_TRUNC, dir_fd=folder))
    assert text("relative.txt") == ""
    reader = os.open(FOLDER / "descriptor.txt", os.O_RDONLY)
    os.close(os.open(f"/proc/self/fd/{reader}", os.O_WRONLY | os.O_TRUNC))
    assert text("descriptor.txt") == ""
    with open("/dev/null", "w") as null, open("/dev/stdout", "w") as out:
        null.write("x")
        out.write("devices are devices\n")


def processes_and_threads():
    def append(number):
        for _ in range(20):
            with open(FOLDER / f"thread{number % 2}.txt", "a") as file:
                file.write("x")
            if os.fork() == 0:
                with open(FOLDER / f"fork{number}.txt", "a") as file:
                    file.write("x")
                os._exit(0)
            os.wait()

    threads = [threading.Thread(target=append, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [len(text(f"thread{n}.txt")) for n in range(2)] == [len(OLD) + 40] * 2
    assert [len(text(f"fork{n}.txt")) for n in range(4)] == [len(OLD) + 20] * 4


for part in (writes, mapped, through_libc, deletes, renames, folders, links, other_ways, processes_and_threads):
    part()
os.makedirs(FOLDER / "__pycache__", exist_ok=True)
print("script: end")
