/** The bank's dialects: every promise to merchants is tested on each of them. */
import { type TestContext, test } from "node:test";

export type Dialect = {
  readonly name: string;
  /** The endpoint of the demonstration that leads there. */
  readonly through: string;
  /** A charge that was not answered is asked about; elsewhere it is reversed. */
  readonly inquires: boolean;
};

// biome-ignore format: a table
const dialects: readonly Dialect[] = [
  { name: "ASCII",  through: "plain",  inquires: false },
  { name: "binary", through: "binary", inquires: true },
];

export function testOnEachDialect(
  title: string,
  body: (t: TestContext, dialect: Dialect) => Promise<void>,
): void {
  for (const dialect of dialects) test(`${dialect.name}: ${title}`, (t) => body(t, dialect));
}
