#!/usr/bin/env python3
"""Asks shells to complete commands of wafer, reads its manual, and installs both.

usage: completion_test.py WAFER BUILD [SUITE]
"""
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
WAFER = BUILD = ""


def out(*command, **more):
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=True, **more).stdout


def wafer(*args):
    return out(WAFER, *args)


def commands(*above):
    """The commands below one, as its help lists them."""
    text = wafer(*above, "--help")
    listed = text.partition("\nSubcommands:\n")[2].partition("\n\n")[0]
    return re.findall(r"^  ([a-z]\S*)", listed, re.M)


def options(*command):
    """The options of a command, as its help lists them."""
    return set(re.findall(r"^  (?:-\w,)?(--[a-z-]+)", wafer(*command, "--help"), re.M))


def every_command():
    return [(one,) for one in commands()] + [("machines", "show")]


def needs(tool):
    return unittest.skipUnless(shutil.which(tool), f"{tool} is not installed")


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        for name in ("model.onnx", "mine.toml"):
            (self.folder / name).touch()

    def script(self, shell):
        path = self.folder / "script"
        path.write_text(wafer("completion", shell))
        return path


@needs("bash")
class Bash(Case):
    def complete(self, *words):
        """What bash offers for the last of the words, which it has split at '=' and ':'."""
        typed = " ".join(map(shlex.quote, ("wafer", *words)))
        return out("bash", "--norc", "-c",
                   f"source {self.script('bash')}; cd {self.folder}; COMP_WORDS=({typed})\n"
                   f"COMP_CWORD={len(words)}; _wafer; printf '%s\\n' \"${{COMPREPLY[@]}}\"").split()

    def test_commands(self):
        self.assertEqual(self.complete(""), commands())
        self.assertEqual(self.complete("est"), ["estimate"])
        self.assertEqual(self.complete("machines", ""), ["show"])

    def test_options_are_those_of_the_help(self):
        for command in every_command():
            found = set(self.complete(*command, "--"))
            self.assertEqual(found, options(*command), command)
        self.assertIn("-o", self.complete("map", "-"))

    def test_words_of_an_option(self):
        self.assertEqual(self.complete("estimate", "gpt2", "--phase", ""), ["train", "infer"])
        self.assertEqual(self.complete("show", "--format", "o"), ["onnx"])
        self.assertEqual(self.complete("estimate", "--phase", "=", "t"), ["train"])
        self.assertEqual(self.complete("estimate", "--phase", "="), ["train", "infer"])
        self.assertEqual(self.complete("completion", ""), ["bash", "zsh", "fish"])
        self.assertEqual(self.complete("estimate", "--batch", ""), [])

    def test_machines_and_files(self):
        self.assertEqual(self.complete("estimate", "--machine", "wse"), ["wse1", "wse2", "wse3"])
        self.assertEqual(self.complete("estimate", "--machine", "mi"), ["mine.toml"])
        self.assertEqual(self.complete("machines", "show", "wse2"), ["wse2"])
        self.assertEqual(self.complete("compare", "gpt2", "--machines", "wse2,h1"), ["wse2,h100"])
        self.assertEqual(self.complete("compare", "gpt2", "--price", "h2"), ["h200="])

    def test_models_and_files(self):
        self.assertEqual(self.complete("estimate", "mod"), ["model.onnx"])
        self.assertEqual(self.complete("estimate", "--seq", "128", "bert-la"),
                         ["bert-large", "bert-large-mlm"])
        self.assertEqual(self.complete("estimate", "gpt2", ""), [])  # it takes one model

    def test_the_value_of_an_option_is_no_command(self):
        self.assertIn("--print-after", self.complete("compile", "--json", "show", "--"))
        self.assertEqual(self.complete("estimate", "--dim", "seq", "=", "12"), [])

    def test_axes(self):
        self.assertEqual(self.complete("sweep", "gpt2", "--axis", "ba"), ["batch="])


@needs("zsh")
class Zsh(Case):
    def test_zsh_reads_it(self):
        out("zsh", "-f", "-n", str(self.script("zsh")))

    def test_it_offers_what_the_help_lists(self):
        """In a terminal of its own, listing what is possible."""
        for typed, expected in [("wafer est", {"estimate"}), ("wafer estimate --phase ", {"train", "infer"}),
                                ("wafer compare gpt2 --machines wse2,h", {"h100", "h200"}),
                                ("wafer machines show ws", {"wse1", "wse2", "wse3"}),
                                ("wafer sweep --pa", {"--pareto"})]:
            self.assertLessEqual(expected, self.complete(typed), typed)

    def functions(self):
        """A folder as an installed wafer has it."""
        folder = self.folder / "site-functions"
        folder.mkdir(exist_ok=True)
        (folder / "_wafer").write_text(wafer("completion", "zsh"))
        return folder

    def complete(self, typed):
        """What zsh offers, as compadd is told of it."""
        driver = self.folder / "driver"
        driver.write_text(f"""
            zmodload zsh/zpty
            zpty shell zsh -f -i
            ask() {{ zpty -w shell "$1"; }}
            ask 'PS1=; stty -echo; fpath=({self.functions()} $fpath)'
            ask 'autoload -Uz compinit; compinit -u -d {self.folder}/dump'
            ask 'compadd() {{ builtin compadd -O offered "$@"
                 print -l -- $offered >> {self.folder}/offered; builtin compadd "$@"; }}'
            ask 'zle -C ask complete-word ask-all; ask-all() {{ _main_complete; compstate[insert]= }}'
            ask 'bindkey "^I" ask'
            ask 'print ready > {self.folder}/ready'
            repeat 100; do [[ -e {self.folder}/ready ]] && break; sleep 0.05; done
            zpty -w -n shell {shlex.quote(typed)}$'\\t'
            repeat 100; do
              [[ -s {self.folder}/offered ]] && break; sleep 0.05
            done
            sleep 0.3
            zpty -d shell
            """)
        (self.folder / "offered").write_text("")
        (self.folder / "ready").unlink(missing_ok=True)
        out("zsh", "-f", str(driver))
        return set((self.folder / "offered").read_text().split())


@needs("fish")
class Fish(Case):
    def complete(self, typed):
        home = {**os.environ, "HOME": str(self.folder), "XDG_CONFIG_HOME": str(self.folder)}
        text = out("fish", "--no-config", "-c",
                   f"source {self.script('fish')}; complete -C {shlex.quote(typed)}",
                   cwd=self.folder, env=home)
        return [line.split("\t")[0] for line in text.splitlines()]

    def test_fish_reads_it(self):
        out("fish", "--no-config", "-n", str(self.script("fish")))

    def test_commands_and_options_are_those_of_the_help(self):
        self.assertEqual(set(self.complete("wafer ")), set(commands()))
        for command in every_command():
            found = set(self.complete(f"wafer {' '.join(command)} --"))
            self.assertEqual(found, options(*command), command)

    def test_words_and_files(self):
        self.assertEqual(self.complete("wafer estimate gpt2 --phase "), ["infer", "train"])
        self.assertEqual(self.complete("wafer estimate --machine wse"), ["wse1", "wse2", "wse3"])
        self.assertEqual(self.complete("wafer estimate --machine mi"), ["mine.toml"])
        self.assertEqual(self.complete("wafer machines show wse"), ["wse1", "wse2", "wse3"])
        self.assertEqual(self.complete("wafer estimate mod"), ["model.onnx"])
        self.assertIn("wse2,h100", self.complete("wafer compare gpt2 --machines wse2,h1"))


class Manual(Case):
    def test_it_has_every_command_and_option(self):
        page = wafer("man").replace("\\-", "-")
        for command in every_command():
            self.assertRegex(page, rf"\n\.SS wafer {' '.join(command)}\b")
            for option in options(*command):
                self.assertRegex(page, rf"\\fB[^\n]*{option}\\fR", (command, option))

    def test_an_option_of_several_commands_stands_once(self):
        page = wafer("man").replace("\\-", "-")
        self.assertEqual(page.count("\\fB--micro-batch\\fR"), 1)

    @needs("mandoc")
    def test_mandoc_finds_no_error(self):
        page = self.folder / "wafer.1"
        page.write_text(wafer("man"))
        out("mandoc", "-T", "lint", "-W", "error", str(page))

    @needs("mandoc")
    def test_it_shows_what_the_help_shows(self):
        text = out("mandoc", "-T", "utf8", "-O", "width=100", input=wafer("man"))
        text = re.sub(".\b", "", text)  # bold
        self.assertIn("wafer estimate gpt3-1.3b --sparsity 0.75 --json out.json", text)
        self.assertIn("'wafer COMMAND --help' explains a command.", text)


class Install(Case):
    def test_the_files_lie_where_shells_and_man_look(self):
        prefix = self.folder / "prefix"
        out("cmake", "--install", BUILD, "--component", "Unspecified", "--prefix", str(prefix))
        for path, args in [("bash-completion/completions/wafer", ("completion", "bash")),
                           ("zsh/site-functions/_wafer", ("completion", "zsh")),
                           ("fish/vendor_completions.d/wafer.fish", ("completion", "fish")),
                           ("man/man1/wafer.1", ("man",))]:
            self.assertEqual((prefix / "share" / path).read_text(), wafer(*args), path)
            self.assertEqual(out(str(prefix / "bin/wafer"), *args), wafer(*args), path)


if __name__ == "__main__":
    WAFER, BUILD = sys.argv[1:3]
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
