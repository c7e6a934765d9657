/**
 * Prepared statements whose values are texts, as those of all batches are, with less work than in
 * the driver's own query. The driver copies the description of each query by the descriptors of its
 * properties, and asks for the columns of the result each time, though a prepared statement never
 * changes them. At 500 sales a second a commit has two orders, and pays for that alone.
 */
import pg from "pg";

/** As a value of a statement. */
export type Text = string | null;

type Statement = {
  readonly name: string;
  readonly text: string;
  readonly values: readonly Text[];
};
type Column = { readonly name: string; readonly parse: (text: string) => unknown };
/** The driver notes the texts of the statements that the connection has prepared, by name. */
type Prepares = { readonly parsedStatements: Readonly<Record<string, string>> };

/** Of the statements that a connection has carried out. One on which one fails is closed. */
const columnsOf = new WeakMap<pg.Connection, Map<string, readonly Column[]>>();

/** Without a time limit of its own: that of the connection applies. */
export function runPrepared(
  client: pg.ClientBase,
  statement: Statement,
): Promise<readonly object[]> {
  return new Promise((resolve, reject) => {
    client.query(
      new Prepared(statement, (error, rows = []) => (error ? reject(error) : resolve(rows))),
    );
  });
}

type OnEnd = (error: Error | undefined, rows?: readonly object[]) => void;

/** Its properties and methods are those that the driver reads and calls. */
class Prepared implements pg.Submittable {
  readonly name: string;
  readonly text: string;
  /** The driver replaces it to limit the time of the statement. */
  callback: OnEnd;
  readonly #values: readonly Text[];
  readonly #rows: object[] = [];
  #columns: readonly Column[] = [];
  #onDone: () => void = () => undefined;

  constructor({ name, text, values }: Statement, onEnd: OnEnd) {
    this.name = name;
    this.text = text;
    this.callback = onEnd;
    this.#values = values;
  }

  submit(connection: pg.Connection & Partial<Prepares>): Error | undefined {
    const { name, text } = this;
    const parsed = connection.parsedStatements?.[name];
    const isNew = parsed === undefined;
    if (!isNew && parsed !== text) return new Error(`Two statements are called ${name}.`);
    const known = columnsOf.get(connection) ?? new Map<string, readonly Column[]>();
    columnsOf.set(connection, known);
    const columns = known.get(name);
    this.#columns = columns ?? [];
    if (columns === undefined) this.#onDone = () => known.set(name, this.#columns);
    // One write for all messages.
    connection.stream.cork();
    if (isNew) connection.parse({ name, text, types: [] }, true);
    connection.bind({ statement: name, values: [...this.#values] }, true);
    if (columns === undefined) connection.describe({ type: "P", name: "" }, true);
    connection.execute(null, true);
    connection.sync();
    connection.stream.uncork();
    return undefined;
  }

  handleRowDescription({ fields }: { readonly fields: readonly pg.FieldDef[] }): void {
    this.#columns = fields.map(({ name, dataTypeID }) => {
      return { name, parse: pg.types.getTypeParser(dataTypeID) };
    });
  }

  handleDataRow({ fields }: { readonly fields: readonly Text[] }): void {
    const row: Record<string, unknown> = {};
    for (const [index, { name, parse }] of this.#columns.entries()) {
      const text = fields[index] ?? null;
      row[name] = text === null ? null : parse(text);
    }
    this.#rows.push(row);
  }

  handleCommandComplete(): void {
    this.#onDone();
  }

  handleEmptyQuery(): void {}

  handleReadyForQuery(): void {
    this.callback(undefined, this.#rows);
  }

  handleError(error: Error): void {
    this.callback(error);
  }
}
