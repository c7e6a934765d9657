/**
 * The files of `deploy/`: systemd accepts the units, and all metrics in them exist in the gateway.
 */
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { type TestContext, test } from "node:test";
import { nodePlaces } from "../gateway/cli/checks/machine.ts";
import { makeProgram } from "../gateway/cli/commands.ts";
import { settings } from "../gateway/config/settings.ts";
import { makeMetrics } from "../gateway/observability/metrics.ts";
import { root } from "./repository.ts";

const read = (path: string) => readFileSync(join(root, "deploy", path), "utf8");
const units = globSync("{systemd,rehearsal}/*", { cwd: join(root, "deploy") });
/** Labels that Prometheus and the processes of a gateway add. */
const addedLabels = ["le", "instance", "job", "node"];

test("every metric and label of the alerts and the dashboard exists in the gateway", () => {
  const figures = listFigures();
  const expressions = [...alertsOf(read("prometheus/tollgate.rules.yml")), ...listTargets()];

  assert.ok(expressions.length > 30);
  for (const { expression, shown } of expressions) {
    const names = expression.match(/\b(tollgate|process|nodejs)_\w+/g) ?? [];
    const labels = new Set(addedLabels);
    for (const name of names) {
      const known = figures.get(name) ?? figures.get(name.replace(/_(bucket|count|sum)$/, ""));
      assert.ok(known !== undefined, `${name} in ${expression}`);
      for (const label of known) labels.add(label);
    }
    const grouped = [...expression.matchAll(/by \(([^)]*)\)/g)].flatMap(([, list = ""]) =>
      list.split(",").map((label) => label.trim()),
    );
    const selected = [...expression.matchAll(/[{,]\s*(\w+)[=!]~?"/g)].map(
      ([, label = ""]) => label,
    );
    const printed = [...shown.matchAll(/\{\{\s*(?:\$labels\.)?(\w+)\s*\}\}/g)].map(
      ([, label = ""]) => label,
    );
    for (const label of [...grouped, ...selected, ...printed]) {
      assert.ok(labels.has(label), `${label} in ${expression} ${shown}`);
    }
  }
});

test("there is an alert for every condition that needs an operator", () => {
  const alerts = read("prometheus/tollgate.rules.yml");

  for (const subject of [
    ...["InDoubt", "ReversalNotConfirmed", "GateWithoutLink", "CallbacksBacklog", "Errors"],
    ...["Slow", "CertificateExpiring", "ClockSkewed", "DiskFull", "BackupTooOld"],
    ...["AuditHeadNotWritten", "OnHold", "CertificateFilesUnusable", "Down", "CardNumberGuessed"],
    ...["SignInsRefused", "AdministratorMade", "SecretRevealed", "PagePolicyViolated", "Rehearsal"],
  ]) {
    assert.match(alerts, new RegExp(`alert: Tollgate\\w*${subject}\\n`), subject);
  }
});

test("promtool accepts the alerts", { skip: !hasProgram("promtool") }, () => {
  execFileSync("promtool", ["check", "rules", join(root, "deploy/prometheus/tollgate.rules.yml")]);
});

test("systemd accepts the units, which restrict access to the machine", {
  skip: !hasProgram("systemd-analyze"),
}, (t) => {
  const folder = makeFolder(t);
  for (const unit of units) {
    // The test machine has no Tollgate in /opt.
    const text = read(unit).replace(/^(ExecStart=)\S+/gm, `$1${process.execPath}`);
    writeFileSync(join(folder, basename(unit)), text.replaceAll("User=tollgate", "User=nobody"));
  }
  const paths = units.map((unit) => join(folder, basename(unit)));

  execFileSync("systemd-analyze", ["verify", "--man=no", ...paths], { stdio: "pipe" });
  for (const path of paths.filter((each) => each.endsWith(".service"))) {
    const words = ["security", "--offline=yes", "--threshold=20", path];
    execFileSync("systemd-analyze", words, { stdio: "pipe" });
  }
});

test("the service restarts if the database was unreachable at its start", () => {
  const service = read("systemd/tollgate.service");

  assert.match(service, /^Restart=always$/m);
  assert.match(service, /^StartLimitIntervalSec=0$/m);
  assert.doesNotMatch(service, /^RestartPreventExitStatus=/m);
});

test("service and image start the gateway with the flags and the allocator of npm start", () => {
  const launcher = "gateway/cli/tollgate";
  const folder = mkdtempSync(join(tmpdir(), "tollgate-launcher-"));
  for (const path of [launcher, "gateway/node-flags"]) cpSync(join(root, path), join(folder, path));
  // This program replaces Node and prints how it was started.
  const node = join(folder, "node_modules/node/bin/node");
  mkdirSync(dirname(node), { recursive: true });
  writeFileSync(node, '#!/bin/sh\nenv | grep ^MALLOC_\necho "$@"\n', { mode: 0o755 });
  const printed = execFileSync(join(folder, launcher), ["start"], { encoding: "utf8" });
  rmSync(folder, { recursive: true });

  const settings =
    readFileSync(join(root, "gateway/node-flags"), "utf8").match(/^[-M]\S+$/gm) ?? [];
  assert.ok(settings.length >= 6);
  for (const setting of settings) assert.ok(printed.split(/\s/).includes(setting), setting);
  assert.match(printed, /gw\.ts start\n$/);
  assert.match(read("systemd/tollgate.service"), /^ExecStart=.*\/gateway\/cli\/tollgate start$/m);
  assert.match(read("Containerfile"), /^CMD \["gateway\/cli\/tollgate", "serve"\]$/m);
});

test("units and guide start the Node whose checksum gw doctor compares", () => {
  const guide = readFileSync(join(root, "docs/operating.md"), "utf8");
  const started = units.flatMap(
    (unit) => read(unit).match(/\/opt\/tollgate\/\S+\/node(?= )/g) ?? [],
  );
  const [, folder = ""] = /^export PATH=(.*):\$PATH$/m.exec(guide) ?? [];

  assert.equal(started.length, 2);
  for (const path of [...started, `${folder}/node`]) {
    assert.ok(nodePlaces.includes(path.replace("/opt/tollgate/", "")), path);
  }
});

test("the service may listen on the guide's port, and write the file of audit heads", () => {
  const guide = readFileSync(join(root, "docs/operating.md"), "utf8");
  const service = read("systemd/tollgate.service");
  const [, heads = ""] = /^GW_AUDIT_HEAD_FILE=(.*)$/m.exec(guide) ?? [];

  assert.match(guide, /^GW_PORT=443$/m);
  assert.match(service, /^AmbientCapabilities=CAP_NET_BIND_SERVICE$/m);
  assert.match(service, /^CapabilityBoundingSet=CAP_NET_BIND_SERVICE$/m);
  assert.doesNotMatch(service, /^PrivateUsers=/m);
  for (const unit of ["tollgate.service", "tollgate-backup.service"]) {
    const [, folder] = /^ReadWritePaths=-(.*)$/m.exec(read(`systemd/${unit}`)) ?? [];
    assert.equal(dirname(heads), folder, unit);
  }
});

test("the guide's settings name the folders of the units, which set no others", () => {
  const guide = readFileSync(join(root, "docs/operating.md"), "utf8");
  const service = read("systemd/tollgate.service");
  const [, state] = /^StateDirectory=(.*)$/m.exec(service) ?? [];
  const [, logs] = /^LogsDirectory=(.*)$/m.exec(service) ?? [];

  assert.ok(guide.includes(`\nGW_DATA_DIR=/var/lib/${state}\n`));
  assert.ok(guide.includes(`\nGW_LOG_FILE=/var/log/${logs}/gateway.log\n`));
  for (const unit of ["tollgate.service", "tollgate-backup.service"]) {
    assert.doesNotMatch(read(`systemd/${unit}`), /^ExecStart=.*GW_(DATA_DIR|LOG_FILE)=/m, unit);
  }
});

test("units and image run only existing commands, and set only existing settings", async () => {
  const program = await makeProgram();
  const names = new Set(Object.values(settings).map(({ name }) => name as string));
  const services = globSync("systemd/*.service", { cwd: join(root, "deploy") });
  const files = [...services, "Containerfile"];

  for (const file of files) {
    const text = read(file).replace(/^#.*$/gm, "");
    const [, words = ""] = /(?:gw\.ts|cli\/tollgate)"?,? ([^\]\n]*)/.exec(text) ?? [];
    const [name = "", ...options] = words.match(/[\w-]+/g) ?? [];
    const command = program.commands.find((each) => each.name() === name);
    assert.ok(command !== undefined, `${file}: ${words}`);
    for (const option of options.filter((each) => each.startsWith("--"))) {
      assert.ok(
        command.options.some(({ long }) => long === option),
        `${file}: ${option}`,
      );
    }
    for (const [setting] of text.matchAll(/GW_\w+/g)) assert.ok(names.has(setting), setting);
  }
});

test("the image copies existing files, runs without root, and has a health check", () => {
  const text = read("Containerfile");
  const copied = [...text.matchAll(/^COPY (?!--from)(.*) \S+$/gm)].flatMap(([, list = ""]) =>
    list.split(" "),
  );
  const { workspaces }: { workspaces: readonly string[] } = JSON.parse(
    readFileSync(join(root, "package.json"), "utf8"),
  );

  for (const path of copied) assert.ok(existsSync(join(root, path)), path);
  for (const each of workspaces) assert.ok(copied.includes(`${each}/package.json`), each);
  assert.match(
    text,
    /^RUN npm ci --omit=dev --workspace=@tollgate\/gateway --include-workspace-root /m,
  );
  assert.match(text, /^USER 10001/m);
  assert.match(text, /GW_ADMIN_PORT=9090[\s\S]*HEALTHCHECK[\s\S]*127\.0\.0\.1:9090\/health\/live/);
});

test("neither service nor image has a compile cache, through which its program could be changed", () => {
  for (const file of [...units, "Containerfile"]) {
    assert.doesNotMatch(read(file), /^[^#]*NODE_COMPILE_CACHE/m, file);
  }
});

test("the gateway's memory reaches neither a disk nor a debugger", () => {
  for (const unit of ["tollgate.service", "tollgate-backup.service"]) {
    const text = read(`systemd/${unit}`);
    for (const line of ["LimitCORE=1", "MemorySwapMax=0", "ProtectSystem=strict"]) {
      assert.ok(text.split("\n").includes(line), `${unit}: ${line}`);
    }
    // The launcher of the gateway takes the flag from gateway/node-flags.
    assert.match(
      text,
      /^ExecStart=.* (--disable-sigusr1|\/opt\/tollgate\/gateway\/cli\/tollgate) /m,
      unit,
    );
    // The operator's file could not override a setting in the unit.
    assert.doesNotMatch(text, /^Environment=.*GW_/m, unit);
  }
  const [, command = ""] =
    /^podman run ([\s\S]*?)\n```/m.exec(readFileSync(join(root, "docs/deployment.md"), "utf8")) ??
    [];
  const [, memory, both] = /--memory (\w+) --memory-swap (\w+)/.exec(command) ?? [];
  assert.match(command, /^--read-only [\s\S]*--cap-drop=all[\s\S]*--ulimit core=1 /);
  assert.ok(memory !== undefined && memory === both);
  assert.ok(process.allowedNodeEnvironmentFlags.has("--disable-sigusr1"));
  // A command has the keys in memory too, and `gw serve` also the cards.
  const [first] = readFileSync(join(root, "gateway/cli/gw.ts"), "utf8").split("\n");
  assert.equal(first, "#!/usr/bin/env -S node --disable-sigusr1");
});

test("the image is built only from images that a digest names", () => {
  const text = read("Containerfile");
  const [, check = ""] = /^RUN (for image in .*)$/m.exec(text) ?? [];
  const digest = `debian@sha256:${"0f".repeat(32)}`;
  const build = (BUILD_IMAGE: string, BASE_IMAGE: string) =>
    spawnSync("sh", ["-c", check], { env: { BUILD_IMAGE, BASE_IMAGE } }).status;

  const bases = [...text.matchAll(/^FROM (\S+)/gm)].map(([, image]) => image);
  assert.deepEqual(bases, ["${" + "BUILD_IMAGE}", "packages", "${" + "BASE_IMAGE}"]);
  assert.equal(build(digest, digest), 0);
  assert.equal(build(digest, "debian:bookworm-slim"), 1);
  assert.equal(build("node:24", digest), 1);
  assert.equal(build(digest, ""), 1);
});

/** Returns the names of the metrics with their labels. */
function listFigures(): ReadonlyMap<string, readonly string[]> {
  const metrics = makeMetrics();
  // The proxy answers every property, because only the names of the metrics are read.
  metrics.watch(new Proxy({} as Parameters<typeof metrics.watch>[0], { get: () => () => 0 }));
  const described = metrics.registry.getMetricsAsArray() as unknown as readonly Described[];
  return new Map(described.map(({ name, labelNames }) => [name, labelNames]));
}

type Described = { readonly name: string; readonly labelNames: readonly string[] };

function alertsOf(rules: string) {
  return [...rules.matchAll(/expr: (.*)\n[\s\S]*?summary: (.*)\n/g)].map(
    ([, expression = "", shown = ""]) => ({ expression, shown }),
  );
}

function listTargets() {
  const { panels }: { panels: readonly { targets: readonly Target[] }[] } = JSON.parse(
    read("grafana/tollgate.json"),
  );
  return panels
    .flatMap(({ targets }) => targets)
    .map(({ expr, legendFormat }) => ({ expression: expr, shown: legendFormat }));
}

type Target = { readonly expr: string; readonly legendFormat: string };

function hasProgram(name: string): boolean {
  return (process.env["PATH"] ?? "").split(":").some((folder) => existsSync(join(folder, name)));
}

function makeFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "tollgate-deploy-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
