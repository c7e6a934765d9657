/**
 * The operator's name, logo and colour on the pages, and the refusal of files that are not logos.
 */
import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { openTheme } from "./design.ts";

const png = Buffer.from("89504e470d0a1a0a0000", "hex");
const svg = '<?xml version="1.0"?>\n<!-- a\nlogo -->\n<svg xmlns="http://www.w3.org/2000/svg"/>';

let folder = "";
before(async () => {
  folder = await mkdtemp(join(tmpdir(), "theme-test-"));
});
after(() => rm(folder, { recursive: true, force: true }));

test("without settings nothing stands above the pages", () => {
  const { theme, complaints } = open({});

  assert.equal(theme.banner, undefined);
  assert.deepEqual(complaints, []);
});

test("name and logo stand above, whatever the name says", async () => {
  await writeFile(join(folder, "logo.svg"), svg);
  await writeFile(join(folder, "logo.png"), png);

  const named = open({ name: `<script>alert("1")</script>`, logoFile: join(folder, "logo.svg") });
  const nameless = open({ logoFile: join(folder, "logo.png") });

  const banner = named.theme.banner?.text ?? "";
  assert.match(banner, /<img src="data:image\/svg\+xml;base64,[A-Za-z0-9+/=]+" alt="">/);
  assert.match(banner, /<span>&lt;script&gt;alert\(&quot;1&quot;\)&lt;\/script&gt;<\/span>/);
  assert.match(
    nameless.theme.banner?.text ?? "",
    /^<header class="banner"><img src="data:image\/png[^"]+" alt="pay\.example"><\/header>/,
  );
});

test("a file that cannot be shown is told, and the name stands alone", async () => {
  await writeFile(join(folder, "page.html"), "<html><svg></svg></html>");
  await writeFile(join(folder, "large.png"), Buffer.concat([png, Buffer.alloc(65_536)]));
  // biome-ignore format: a table
  const files = [
    ["page.html", /neither SVG nor PNG/],
    ["large.png", /larger than 64 KiB/],
    ["none.svg",  /ENOENT/],
    [".",         /EISDIR/],
  ] as const;

  for (const [file, complaint] of files) {
    const { theme, complaints } = open({ name: "Payments", logoFile: join(folder, file) });

    assert.match(complaints.join("\n"), complaint);
    assert.equal(theme.banner?.text, '<header class="banner"><span>Payments</span></header>\n');
  }
});

test("the colour is lightened for dark screens, and the policy allows the style sheet", () => {
  const { theme } = open({ accent: "#1e3a8a" });

  assert.match(theme.style, /:root \{ --accent: #1e3a8a; --on-accent: #fff \}/);
  assert.match(theme.style, /dark\) \{ :root \{ --accent: #7889b9; --on-accent: #0f1413/);
  assert.equal(theme.styleSource, `'sha256-${hash("sha256", theme.style, "base64")}'`);
});

function open(given: { name?: string; accent?: string; logoFile?: string }) {
  const complaints: string[] = [];
  const asked = { name: "", host: "pay.example", accent: "", logoFile: "", ...given };
  const theme = openTheme({
    ...asked,
    isRehearsal: false,
    onBadLogo: (cause) => void complaints.push(cause),
  });
  return { theme, complaints };
}
