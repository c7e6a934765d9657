/**
 * The two source trees of a comparison, each in its own folder with its own packages: an earlier
 * commit, and the working tree with its changes. Nothing in the repository is changed: git writes
 * to an index and an object folder beside the trees.
 */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { Ended } from "./plan.ts";

export type Trees = {
  readonly earlier: Tree;
  readonly now: Tree;
  /** Whether the working tree differs from its commit. */
  readonly isDirty: boolean;
};

export type Tree = {
  readonly folder: string;
  /** The short name of the commit. */
  readonly name: string;
  /** Their package files are those of the repository's working tree, whose packages they share. */
  readonly sharesPackages: boolean;
};

/** Writes the files of both trees under the folder. */
export function layOutTrees(repository: string, commit: string, folder: string): Trees {
  mkdirSync(join(folder, "objects"), { recursive: true });
  const plainly = makeGit(repository, environmentWithout(/^GIT_/));
  const id = plainly("rev-parse", "--verify", "--quiet", "--end-of-options", `${commit}^{commit}`);
  if (id === undefined) throw new Ended(`${repository} has no commit ${commit}`);
  const git = makeGit(repository, {
    ...environmentWithout(/^GIT_/),
    GIT_INDEX_FILE: join(folder, "index"),
    GIT_OBJECT_DIRECTORY: join(folder, "objects"),
    GIT_ALTERNATE_OBJECT_DIRECTORIES: resolve(
      repository,
      demand(plainly("rev-parse", "--git-path", "objects")),
    ),
  });
  const packages = ["package.json", "package-lock.json", "*/package.json"];

  demand(git("add", "--all"));
  const content = demand(git("write-tree"));
  const isDirty = content !== demand(git("rev-parse", "HEAD^{tree}"));
  const now = { ...writeTree("now", "HEAD"), sharesPackages: true };
  const sharesPackages = git("diff", "--quiet", id, content, "--", ...packages) !== undefined;
  demand(git("read-tree", id));
  return { now, isDirty, earlier: { ...writeTree("earlier", id), sharesPackages } };

  function writeTree(place: string, revision: string) {
    const to = join(folder, place);
    demand(git("checkout-index", "--all", `--prefix=${to}/`));
    return { folder: to, name: demand(git("rev-parse", "--short", revision)) };
  }
}

/**
 * Installs the packages. They are the repository's own, hard-linked where possible, if the package
 * files are the same; otherwise the tree's own runner installs them. It also fills the tree's
 * compile cache.
 */
export function installPackages(repository: string, { folder, sharesPackages }: Tree): void {
  const packages = join(repository, "node_modules");
  if (sharesPackages && existsSync(packages)) {
    const to = join(folder, "node_modules");
    try {
      execFileSync("cp", ["-al", packages, to], { stdio: "ignore" });
    } catch {
      rmSync(to, { recursive: true, force: true });
      execFileSync("cp", ["-a", packages, to]);
    }
    rmSync(join(to, ".cache"), { recursive: true, force: true });
  }
  const runner = join(folder, "tools/run.mjs");
  if (!existsSync(runner)) throw new Ended("the commit is too old: it has no tools/run.mjs");
  execFileSync(process.execPath, [runner, "tools/warm.ts"], {
    cwd: folder,
    env: environmentWithout(/^GW_|^NODE_COMPILE_CACHE$|^npm_lifecycle_event$/),
    stdio: ["ignore", "ignore", "inherit"],
  });
}

/**
 * Returns the environment without the user's settings of git and of the gateway, which must not
 * change the measurement.
 */
function environmentWithout(names: RegExp): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !names.test(name)));
}

/** Runs a git command. Returns its output, or undefined if it fails. */
type Git = (...parameters: readonly string[]) => string | undefined;

function makeGit(repository: string, env: NodeJS.ProcessEnv): Git {
  return (...parameters) => {
    try {
      const output = execFileSync("git", ["-C", repository, ...parameters], {
        env,
        encoding: "utf8",
        stdio: ["ignore", "pipe", "pipe"],
      });
      return output.trim();
    } catch (error) {
      const { code, stderr } = error as { code?: string; stderr?: string };
      if (code === "ENOENT") throw new Ended("git is not installed");
      if (stderr) throw new Ended(stderr.trim());
      return undefined;
    }
  };
}

function demand(output: string | undefined): string {
  if (output === undefined) throw new Ended("git failed without a reason");
  return output;
}
