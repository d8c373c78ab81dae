#!/usr/bin/env python3
"""Training as users script it: kill it, resume it, feed it nonsense. Run with the paths of the program and of the
fixture, which is the same commands with a learner made for tests."""
import json
import os
import pathlib
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
import unittest

BINARY, FIXTURE = (os.path.abspath(path) for path in (sys.argv.pop(1), sys.argv.pop(1)))
RECIPE = "apiVersion: evenkeel.io/v1alpha1\nkind: Recipe\nname: trial\nlearner: test\ntries: 60\ntarget: 0.5\n"


class InAFolder(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)
        self.recipe = self.write("trial.yaml", RECIPE)

    def write(self, name, text):
        (self.folder / name).write_text(text)
        return str(self.folder / name)

    def path(self, name):
        return str(self.folder / name)

    def run_fixture(self, *arguments, program=FIXTURE, **options):
        return subprocess.run([program, *arguments], capture_output=True, text=True, timeout=120, **options)

    def train(self, *arguments, **options):
        return self.run_fixture("train", "--recipe", self.recipe, *arguments, **options)

    def trained(self, name, *arguments):
        done = self.train("--out", self.path(name), *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return (self.folder / name).read_bytes()

    def stalled(self, step, *arguments):
        """A training that hangs after a step, once its checkpoint of that step is written."""
        process = subprocess.Popen([FIXTURE, "train", "--recipe", self.recipe, *arguments], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, env={**os.environ, "EVENKEEL_TEST_STALL_AT": str(step)})
        checkpoint = self.folder / "c"
        for _ in range(600):
            if checkpoint.exists() and f'"done":{step},' in checkpoint.read_bytes().decode("latin-1"):
                return process
            time.sleep(0.05)
        process.kill()
        self.fail("no checkpoint: " + process.communicate()[1].decode())

    def refused(self, *arguments, names, code=2, **options):
        done = self.run_fixture(*arguments, **options)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        for name in names:
            self.assertIn(name, done.stderr)
        self.assertEqual(done.stdout, "")


class Train(InAFolder):
    def test_gives_the_same_bytes_twice_and_others_for_another_seed(self):
        first = self.trained("a.ekm", "--threads", "1")
        self.assertEqual(first, self.trained("b.ekm", "--threads", "2"))
        self.assertNotEqual(first, self.trained("c.ekm", "--seed", "2"))
        self.assertEqual(sorted(p.name for p in self.folder.iterdir()), ["a.ekm", "b.ekm", "c.ekm", "trial.yaml"])

    def test_killed_without_warning_goes_on_from_its_last_checkpoint_to_the_same_bytes(self):
        whole = self.trained("whole.ekm")
        arguments = ("--out", self.path("m.ekm"), "--checkpoint", self.path("c"), "--checkpoint-every", "7")
        process = self.stalled(35, *arguments)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        self.assertEqual(process.returncode, -signal.SIGKILL)
        self.assertFalse((self.folder / "m.ekm").exists())
        done = self.train(*arguments, "--resume")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("try 35 of 60", done.stderr)
        self.assertEqual((self.folder / "m.ekm").read_bytes(), whole)

    def test_told_to_stop_keeps_a_checkpoint_of_where_it_is(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            whole = self.trained("whole.ekm", "--set", "tries=20000")
            arguments = ("--set", "tries=20000", "--out", self.path("m.ekm"), "--checkpoint", self.path("c"),
                         "--checkpoint-every", "1")
            process = subprocess.Popen([FIXTURE, "train", "--recipe", self.recipe, *arguments],
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            while not (self.folder / "c").exists() and process.poll() is None:
                time.sleep(0.01)
            process.send_signal(number)
            out, errors = process.communicate(timeout=60)
            self.assertEqual(process.returncode, 1, errors)
            self.assertIn("--resume", errors)
            self.assertEqual(out, "")
            done = self.train(*arguments[:-1], "20000", "--resume")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual((self.folder / "m.ekm").read_bytes(), whole)
            (self.folder / "c").unlink()

    def test_resuming_before_there_is_anything_starts_at_the_beginning(self):
        self.assertEqual(self.trained("a.ekm"), self.trained("b.ekm", "--resume"))

    def test_refuses_the_checkpoint_of_another_training_by_name(self):
        self.trained("m.ekm", "--checkpoint", self.path("c"), "--seed", "3")
        again = ("train", "--checkpoint", self.path("c"), "--resume", "--recipe")
        self.refused(*again, self.recipe, "--seed", "4", names=[self.path("c"), "'trial' with seed 3", "seed 4"])
        other = self.write("other.yaml", RECIPE.replace("trial", "other"))
        self.refused(*again, other, "--seed", "3", names=["'trial'", "'other'"])
        self.refused(*again, self.recipe, "--seed", "3", "--set", "target=2", names=["has changed"])
        self.write("c", "evenkeel-checkpoint 1 2 3 00000000\n{}xxx")
        self.refused(*again, self.recipe, names=[self.path("c"), "damaged"])

    def test_trains_several_seeds_and_prints_the_spread(self):
        done = self.train("--train-seeds", "3", "--out", self.path("m.ekm"), "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        document = json.loads(done.stdout)
        self.assertEqual([training["seed"] for training in document["trainings"]], [1, 2, 3])
        spread = document["last_tenth"]["distance"]
        self.assertEqual(len(spread["values"]), 3)
        self.assertAlmostEqual(spread["mean"], sum(spread["values"]) / 3)
        self.assertGreater(spread["sd"], 0)
        self.assertEqual(len(document["trainings"][0]["curve"]["distance"]), 60)
        models = [(self.folder / f"m-seed{seed}.ekm").read_bytes() for seed in (1, 2, 3)]
        self.assertEqual(models[1], self.trained("two.ekm", "--seed", "2"))
        table = self.train("--train-seeds", "3").stdout
        self.assertRegex(table, r"distance.* ± .* ± ")

    def test_prints_a_bounded_number_of_lines_and_no_bar_into_a_pipe(self):
        done = self.train("--set", "tries=5000")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("\033", done.stderr + done.stdout)
        self.assertLess(len(done.stderr.splitlines()), 30)
        self.assertIn("try 5000 of 5000", done.stderr)
        self.assertIn("▁", done.stdout)

    def test_draws_the_learning_curve_into_a_page_that_needs_nothing_else(self):
        done = self.train("--report", self.path("curve.html"), "--train-seeds", "2")
        self.assertEqual(done.returncode, 0, done.stderr)
        page = (self.folder / "curve.html").read_text()
        self.assertIn("<svg", page)
        self.assertIn("seed 2", page)
        self.assertIsNone(re.search(r'(src|href)="https?:', page))

    def test_says_beforehand_that_it_cannot_write_there(self):
        nowhere = self.path("none") + "/m.ekm"
        for flag in ("--out", "--checkpoint", "--report"):
            self.refused("train", "--recipe", self.recipe, flag, nowhere, names=[nowhere, "No such file"], code=1)
        self.refused("train", "--recipe", self.recipe, "--out", str(self.folder), names=["Is a directory"], code=1)

    def test_leaves_nothing_half_written_on_a_full_disk(self):
        def small_files():
            resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
        before = sorted(p.name for p in self.folder.iterdir())
        self.refused("train", "--recipe", self.recipe, "--out", self.path("m.ekm"), names=["cannot write", "m.ekm"], code=1,
                     preexec_fn=small_files)
        self.assertEqual(sorted(p.name for p in self.folder.iterdir()), before)

    def test_gives_no_model_whose_weights_are_no_numbers(self):
        done = self.train("--out", self.path("m.ekm"), "--set", "diverges=true")
        self.assertEqual(done.returncode, 1)
        self.assertIn("not a finite number", done.stderr)
        self.assertFalse((self.folder / "m.ekm").exists())


class WrongRecipe(InAFolder):
    def test_is_named_by_file_line_and_field(self):
        for text, names in (
                (RECIPE + "trys: 7\n", [":7", "trys", "tries"]),
                (RECIPE.replace("60", "many"), [":5", "tries", "many"]),
                (RECIPE.replace("60", "-1"), [":5", "tries", "-1"]),
                (RECIPE.replace("learner: test", "learner: tset"), [":4", "learner", "tset", "test"]),
                (RECIPE.replace("Recipe", "Scenario"), [":2", "kind", "Scenario", "Recipe"]),
                (RECIPE + "scenarios: [nowhere]\n", [":7", "scenarios", "nowhere"]),
                ("a: [1,\n", []), ("", [])):
            path = self.write("bad.yaml", text)
            self.refused("train", "--recipe", path, names=[path, *names])

    def test_is_named_where_there_is_none(self):
        self.refused("train", "--recipe", self.path("gone.yaml"), names=["gone.yaml", "No such file"])
        self.refused("train", "--recipe", "drz", names=["drz", "drs"], program=BINARY)
        self.refused("train", "--recipe", self.recipe, "--set", "tries=0", names=["tries", "0"])
        self.refused("train", "--recipe", self.recipe, "--scenario", "nowhere", names=["nowhere"])
        self.refused("train", "--recipe", self.recipe, "--resume", names=["--checkpoint"])

    def test_every_recipe_built_in_is_read_by_its_learner(self):
        for recipe in sorted(pathlib.Path("recipes").glob("*.yaml")):
            done = self.run_fixture("train", "--recipe", recipe.stem, "--out", self.path("none") + "/x", program=BINARY)
            # Read whole, and stopped at the path only.
            self.assertEqual(done.returncode, 1, recipe.name + done.stderr)
            self.assertIn("No such file", done.stderr)


class Model(InAFolder):
    def test_tells_what_it_is_what_it_was_trained_by_and_what_it_expects(self):
        self.trained("m.ekm", "--set", "target=2")
        done = self.run_fixture("model", "inspect", self.path("m.ekm"))
        self.assertEqual(done.returncode, 0, done.stderr)
        for word in ("kube-default/test", "2-1", "memory", "tries", "learner: test", "# --set target=2"):
            self.assertIn(word, done.stdout)
        document = json.loads(self.run_fixture("model", "inspect", self.path("m.ekm"), "--json").stdout)
        self.assertEqual(document["policy"], "kube-default")
        self.assertEqual(document["normalisation"][1], {"feature": "memory", "low": 0, "high": 2})

    def test_tells_the_policy_that_scales_by_it(self):
        done = self.run_fixture("model", "inspect", "dscaler", "--json", program=BINARY)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout)["policy"], "dscaler")
        done = self.run_fixture("model", "verify", "dscaler", program=BINARY)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("fits policy dscaler", done.stdout)
        self.refused("evaluate", "--scenario", "smoke", "--model", "dscaler", names=["dscaler", "scales and places nothing"], program=BINARY)

    def test_exports_every_weight(self):
        self.trained("m.ekm")
        document = json.loads(self.run_fixture("model", "export", self.path("m.ekm")).stdout)
        layer = document["networks"][0]["layers"][0]
        self.assertEqual((len(layer["weights"]), len(layer["biases"])), (2, 1))
        self.assertTrue(all(weight != 0 for weight in layer["weights"]))
        done = self.run_fixture("model", "export", self.path("m.ekm"), "--out", self.path("m.json"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads((self.folder / "m.json").read_text()), document)

    def test_verifies_or_says_what_is_wrong_and_where(self):
        good = self.trained("m.ekm")
        done = self.run_fixture("model", "verify", self.path("m.ekm"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("fits policy kube-default", done.stdout)
        bad = self.path("bad.ekm")
        for name, content, words in (("cut", good[:-3], ["cut short"]), ("flipped", good[:-9] + b"x" + good[-8:], ["checksum"]),
                                     ("foreign", b"PK\x03\x04", ["not a model"]), ("empty", b"", ["not a model"]),
                                     ("newer", good.replace(b"evenkeel-model 1", b"evenkeel-model 7"), ["version 7"])):
            with self.subTest(name):
                (self.folder / "bad.ekm").write_bytes(content)
                for command in (("model", "verify", bad), ("model", "inspect", bad), ("model", "export", bad),
                                ("evaluate", "--scenario", "smoke", "--model", bad)):
                    self.refused(*command, names=[bad, *words])
        self.refused("model", "verify", self.path("gone.ekm"), names=["gone.ekm", "No such file"])
        self.refused("model", "verify", "nonesuch", names=["nonesuch", "built in"])

    def test_of_another_encoding_is_refused_by_name(self):
        self.trained("m.ekm")
        self.refused("model", "verify", self.path("m.ekm"), "--policy", "drs", names=["m.ekm", "kube-default/test", "drs"])
        self.refused("evaluate", "--scenario", "smoke", "--policies", "drs", "--model", "drs=" + self.path("m.ekm"),
                     names=["m.ekm", "kube-default/test", "drs"], program=BINARY)

    def test_trained_by_the_program_is_used_by_its_policy(self):
        out = self.path("drs.ekm")
        done = self.run_fixture("train", "--recipe", "drs", "--scenario", "drs-even", "--set", "worlds=4", "--set", "validation.every=2",
                                "--set", "validation.worlds=1", "--set", "epsilon.worlds=2", "--out", out, program=BINARY)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.run_fixture("model", "verify", out, program=BINARY).returncode, 0)
        evaluate = ("evaluate", "--scenario", "drs-even", "--policies", "drs", "--seeds", "2", "--json")
        nothing = self.run_fixture(*evaluate, "--model", "drs=none", program=BINARY)
        trained = self.run_fixture(*evaluate, "--model", out, program=BINARY)
        self.assertEqual(trained.returncode, 0, trained.stderr)
        self.assertNotEqual(json.loads(trained.stdout)["policies"]["drs"]["imbalance"]["values"],
                            json.loads(nothing.stdout)["policies"]["drs"]["imbalance"]["values"])


class EveryLearner(InAFolder):
    # Short trainings by the recipes built in: what is set, so that one takes seconds.
    SHORT = {
        "drs": ["worlds=12", "validation.every=6", "validation.worlds=1", "epsilon.worlds=6"],
        "drs-means": ["generations=4", "pairs=2", "worlds=1", "validation.worlds=1", "validation.every=2"],
        "ppo-lrt-nginx": ["episodes=24"],
        "evenkeel": ["rounds=4", "worlds=4", "lessons=20", "passes=1", "improve_every=2"],
    }

    def test_killed_at_any_moment_ends_in_the_same_bytes(self):
        for recipe, settings in self.SHORT.items():
            with self.subTest(recipe):
                train = ["train", "--recipe", recipe, "--seed", "5", *(part for each in settings for part in ("--set", each))]
                whole, killed, checkpoint = (self.path(f"{recipe}-{name}") for name in ("whole.ekm", "killed.ekm", "checkpoint"))
                done = self.run_fixture(*train, "--out", whole, program=BINARY)
                self.assertEqual(done.returncode, 0, done.stderr)
                train += ["--out", killed, "--checkpoint", checkpoint, "--checkpoint-every", "1"]
                process = subprocess.Popen([BINARY, *train], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                while not os.path.exists(checkpoint) and process.poll() is None:
                    time.sleep(0.005)
                process.kill()  # where it had ended already, resuming has nothing left to do
                process.wait()
                done = self.run_fixture(*train, "--resume", program=BINARY)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIn("going on from", done.stderr)
                self.assertEqual(pathlib.Path(killed).read_bytes(), pathlib.Path(whole).read_bytes())


class Papers(InAFolder):
    def test_are_pages_and_figures_of_every_table_there_is(self):
        done = self.run_fixture("papers", "--all", "--quick", "--out-dir", self.path("papers"), program=BINARY)
        self.assertEqual(done.returncode, 0, done.stderr)
        pages = sorted((self.folder / "papers").glob("*.html"))
        self.assertGreaterEqual(len(pages), 15)
        for page in pages:
            self.assertIn("<table>", page.read_text(), page.name)
            self.assertTrue(json.loads(page.with_suffix(".json").read_text())["results"], page.name)

    def test_are_listed_and_an_unknown_one_is_named(self):
        done = self.run_fixture("papers", program=BINARY)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("drs-fig", done.stdout)
        self.assertIn("ppo-lrt-fig", done.stdout)
        self.refused("papers", "drs-fig99", names=["drs-fig99", "did you mean"], program=BINARY)


if __name__ == "__main__":
    unittest.main(verbosity=2)
