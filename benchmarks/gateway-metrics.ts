/** What the gateway says of itself on `/metrics`: means over a stretch of time, by their sums. */

export type Means = {
  readonly bankAnswerMs: number;
  readonly beginBatch: number;
  readonly beginMs: number;
  readonly moveBatch: number;
  readonly moveMs: number;
};

export type Metrics = ReadonlyMap<string, number>;

export async function readMetrics(port: number): Promise<Metrics> {
  const answer = await fetch(`http://127.0.0.1:${port}/metrics`);
  const lines = (await answer.text()).split("\n").filter((line) => !line.startsWith("#"));
  return new Map(
    lines.map((line) => {
      const space = line.lastIndexOf(" ");
      return [line.slice(0, space), Number(line.slice(space + 1))];
    }),
  );
}

/** How much a figure has grown, over all its labels. */
export function grownBetween(before: Metrics, after: Metrics, name: string): number {
  const sum = (metrics: Metrics) =>
    [...metrics].reduce((all, [key, value]) => (key.startsWith(name) ? all + value : all), 0);
  return sum(after) - sum(before);
}

export function meansBetween(before: Metrics, after: Metrics): Means {
  return {
    bankAnswerMs: meanOf("tollgate_acquirer_answer_ms", 'mti="0200"'),
    beginBatch: meanOf("tollgate_commit_batch_size", 'queue="begin"'),
    beginMs: meanOf("tollgate_commit_duration_ms", 'queue="begin"'),
    moveBatch: meanOf("tollgate_commit_batch_size", 'queue="move"'),
    moveMs: meanOf("tollgate_commit_duration_ms", 'queue="move"'),
  };

  function meanOf(name: string, label: string): number {
    return grown(`${name}_sum`, label) / grown(`${name}_count`, label);
  }

  function grown(name: string, label: string): number {
    const keys = [...after.keys()].filter((key) => key.startsWith(name) && key.includes(label));
    const sum = (metrics: Metrics) => keys.reduce((all, key) => all + (metrics.get(key) ?? 0), 0);
    return sum(after) - sum(before);
  }
}
