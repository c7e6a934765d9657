/**
 * Draws diagrams from the text form that GitHub also draws: `sequenceDiagram` and `stateDiagram-v2`
 * of Mermaid, as far as the documents use them. Colours come from the style sheet.
 */
import * as dagre from "@dagrejs/dagre";
import { escapeHtml } from "./highlight.ts";

export function drawDiagram(text: string): string {
  const lines = text.split("\n").map((line) => line.trim());
  return lines[0] === "sequenceDiagram" ? drawSequence(lines.slice(1)) : drawStates(lines.slice(1));
}

/** Returns a figure. `words` describes the drawing for readers who cannot see it. */
function figure(width: number, height: number, content: string, words: string): string {
  const size = `width="${Math.ceil(width)}" height="${Math.ceil(height)}"`;
  return (
    `<figure class="scroll" tabindex="0" role="img" aria-label="${escapeHtml(words)}">` +
    `<svg viewBox="0 0 ${Math.ceil(width)} ${Math.ceil(height)}" ${size} aria-hidden="true">` +
    `${arrowHead}${content}</svg></figure>\n`
  );
}

const arrowHead =
  '<defs><marker id="head" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" ' +
  'markerHeight="7" orient="auto-start-reverse"><path class="head" d="M0 1 9 5 0 9z"/>' +
  "</marker></defs>";

function words(x: number, y: number, text: string, kind = ""): string {
  return `<text class="${kind}" x="${x}" y="${y}" text-anchor="middle">${escapeHtml(text)}</text>`;
}

const lane = { width: 190, top: 44, step: 40 };

function drawSequence(lines: readonly string[]): string {
  const actors = new Map<string, string>();
  const steps: { from: string; to: string; text: string; kind: "call" | "answer" | "note" }[] = [];
  for (const line of lines) {
    const actor = /^(?:participant|actor) (\w+) as (.+)$/.exec(line);
    const arrow = /^(\w+)(-->>|->>)(\w+): (.+)$/.exec(line);
    const note = /^Note over (\w+)(?:,(\w+))?: (.+)$/.exec(line);
    if (actor) actors.set(actor[1] ?? "", actor[2] ?? "");
    if (arrow) {
      const [, from = "", kind, to = "", text = ""] = arrow;
      steps.push({ from, to, text, kind: kind === "->>" ? "call" : "answer" });
    }
    if (note) {
      const [, from = "", to = from, text = ""] = note;
      steps.push({ from, to, text, kind: "note" });
    }
  }
  const names = [...actors.keys()];
  const xOf = (name: string) => lane.width * (names.indexOf(name) + 0.5);
  const height = lane.top + lane.step * (steps.length + 0.5);
  const heads = names.map((name) => {
    const x = xOf(name);
    return (
      `<path class="lane" d="M${x} ${lane.top - 10}V${height}"/>` +
      `<rect class="node" x="${x - 76}" y="4" width="152" height="30" rx="6"/>` +
      words(x, 24, actors.get(name) ?? "", "name")
    );
  });
  const drawn = steps.map(({ from, to, text, kind }, at) => {
    const y = lane.top + lane.step * (at + 0.75);
    const [start, end] = [xOf(from), xOf(to)];
    const middle = (start + end) / 2;
    if (kind === "note" || start === end) {
      const half = Math.max(Math.abs(end - start) / 2 + 60, text.length * 3.6);
      return (
        `<rect class="note" x="${middle - half}" y="${y - 17}" width="${half * 2}" ` +
        `height="26" rx="4"/>` +
        words(middle, y, text)
      );
    }
    const stop = end + (end > start ? -2 : 2);
    return (
      `<path class="arrow ${kind}" d="M${start} ${y}H${stop}" marker-end="url(#head)"/>` +
      words(middle, y - 6, text)
    );
  });
  const told = steps.map(({ from, to, text, kind }) => {
    const [one, other] = [actors.get(from), actors.get(to)];
    return kind === "note" ? text : `${one} to ${other}: ${text}`;
  });
  const content = [...heads, ...drawn].join("");
  return figure(lane.width * names.length, height, content, told.join(". "));
}

function drawStates(lines: readonly string[]): string {
  const graph = new dagre.graphlib.Graph();
  graph.setGraph({
    rankdir: "TB",
    nodesep: 26,
    ranksep: 34,
    edgesep: 14,
    marginx: 12,
    marginy: 12,
  });
  graph.setDefaultEdgeLabel(() => ({}));
  const told: string[] = [];
  for (const line of lines) {
    const [, from = "", to = "", label = ""] = /^(\S+) --> (\S+)(?: : (.+))?$/.exec(line) ?? [];
    if (from === "" || from === to) continue;
    const [start, end] = [from === "[*]" ? "begin" : from, to === "[*]" ? "end" : to];
    if (end === "end") continue;
    for (const name of [start, end]) {
      const isDot = name === "begin";
      const width = isDot ? 14 : name.length * 7.4 + 24;
      graph.setNode(name, { width, height: isDot ? 14 : 30 });
    }
    // The drawing omits the events, which would make it three times as wide; the table below has
    // them.
    graph.setEdge(start, end, {});
    told.push(`${start} to ${end}: ${label}`);
  }
  dagre.layout(graph);
  const edges = graph.edges().map((edge: dagre.Edge) => drawEdge(graph.edge(edge)));
  const nodes = graph.nodes().map((name: string) => drawNode(name, graph.node(name)));
  const { width = 0, height = 0 } = graph.graph();
  return figure(width, height, [...edges, ...nodes].join(""), told.join(". "));
}

type Point = { readonly x: number; readonly y: number };
type Edge = { readonly points: readonly Point[] };

function drawEdge({ points }: Edge): string {
  const [first, ...others] = points.map((point) => `${point.x.toFixed(1)} ${point.y.toFixed(1)}`);
  return `<path class="arrow" d="M${first}L${others.join(" ")}" marker-end="url(#head)"/>`;
}

const ends: ReadonlySet<string> = new Set(["approved", "declined", "filtered", "error"]);

function drawNode(
  name: string,
  { x, y, width, height }: Point & { width: number; height: number },
) {
  if (name === "begin") return `<circle class="begin" cx="${x}" cy="${y}" r="6"/>`;
  const kind = ends.has(name) ? `node end ${name}` : "node";
  return (
    `<rect class="${kind}" x="${x - width / 2}" y="${y - height / 2}" width="${width}" ` +
    `height="${height}" rx="6"/>${words(x, y + 4, name, "name")}`
  );
}
