/**
 * A model of PostgreSQL's guarantees for the statements of `gateway/storage` that the simulated
 * parts use: each is executed at one moment, completely or not at all. It recognises statements by
 * their names; `model-conformance.test.ts` runs the same ones on a real server and compares every
 * answer. An unknown statement ends the simulation.
 */

export type Row = Readonly<Record<string, unknown>>;
export type Statement = (tables: Tables, values: readonly unknown[], nowMs: number) => Row[];

export type OrderRecord = {
  readonly merchant_id: string;
  readonly id: string;
  readonly endpoint_id: string;
  readonly client_orderid: string;
  readonly attempt: number;
  readonly version: number;
  readonly changed_at: number;
  readonly kind: string;
  readonly stage: string;
  readonly owes: string | null;
  readonly carrier: string | null;
  readonly finished_at: number | null;
  /** JSON as text. */
  readonly facts: string;
  readonly progress: string;
  readonly digest: Buffer;
  readonly digest_key: number | null;
  readonly cvv_digest: Buffer | null;
};

export type DueRecord = {
  readonly due_at: number;
  readonly order_id: string;
  readonly version: number;
};

export type HistoryRecord = {
  readonly order_id: string;
  readonly version: number;
  readonly at: number;
  readonly node: string;
  readonly events: string;
};

export type CallbackRecord = {
  readonly merchant_id: string;
  readonly order_id: string;
  readonly sequence: number;
  readonly serial: string;
  readonly url: string;
  readonly receiver: string;
  readonly tries: number;
  readonly ended: string | null;
  /** The time in microseconds, as PostgreSQL has it. */
  readonly begun_at: number;
  readonly due_at: number | null;
};

export type CardRecord = {
  readonly merchant_id: string;
  readonly id: string;
  readonly keyId: number;
  readonly sealed: Buffer;
  readonly fingerprint: Buffer;
};

export type PendingCardRecord = {
  readonly context: string;
  readonly keyId: number;
  readonly sealed: Buffer;
  readonly sealedKey: Buffer;
  readonly expires: number;
};

export type VaultKeyRecord = {
  readonly purpose: string;
  /** Null after the key is destroyed. */
  readonly sealed: Buffer | null;
  readonly retiredAt: number | null;
};

type BlockRecord = {
  readonly first_sequence: number;
  readonly first_id: number;
  readonly size: number;
  readonly timeline: number;
};

export type Tables = ReturnType<typeof makeTables>;

export function makeTables() {
  const journal: Undo[] = [];
  /** The number of entries that the journal has forgotten. */
  let forgotten = 0;
  let nowMs = 0;
  let timeline = 1;
  const table = <Record>() => new Table<Record>((undo) => journal.push({ at: nowMs, undo }));
  const pendingCards = table<PendingCardRecord>();
  const cvvKeys = table<{ keyId: number; sealed: Buffer; expires: number }>();
  const vaultKeys = table<VaultKeyRecord>();
  const numbers = table<number>();
  return {
    orders: table<OrderRecord>(),
    /** The unique index of merchant, client order id and attempt. */
    clientOrders: table<string>(),
    /** The highest attempt of merchant and client order id. */
    attempts: table<number>(),
    history: table<HistoryRecord>(),
    due: table<DueRecord>(),
    cards: table<CardRecord>(),
    cardKeys: table<{ readonly isDestroyed: boolean }>(),
    /**
     * Keys whose rows a transaction has locked, each with a function that says whether it still
     * has.
     */
    lockedKeys: new Map<string, () => boolean>(),
    pendingCards,
    callbacks: table<CallbackRecord>(),
    vaultKeys,
    cvvKeys,
    blocks: table<BlockRecord>(),
    numbers,
    /** The number of the server, which a standby that takes over increases. */
    timeline: () => timeline,
    /** Sets the time. The journal keeps it for a while, so that a standby can lack it. */
    setTime(at: number): void {
      nowMs = at;
      for (; (journal[0]?.at ?? at) < at - journalMs; forgotten += 1) journal.shift();
    },
    /**
     * Sets the state of a standby with this lag. It has no pending card data and no keys for
     * digests of CVVs, which are unlogged, and its sequence is ahead.
     */
    rollBack(lagMs: number): void {
      timeline += 1;
      while ((journal.at(-1)?.at ?? 0) > nowMs - lagMs) journal.pop()?.undo();
      for (const [context] of pendingCards.entries()) pendingCards.delete(context);
      for (const [slot] of cvvKeys.entries()) cvvKeys.delete(slot);
      const sequence = numbers.get("sequence");
      if (sequence !== undefined) numbers.put("sequence", sequence + 32 * 1_000);
    },
    /** Executes a statement, which leaves nothing if it fails. */
    atomically<Result>(work: () => Result): Result {
      const before = countChanges();
      try {
        return work();
      } catch (error) {
        undoTo(before);
        throw error;
      }
    },
    /** Returns the statement's rows without executing its changes. */
    tryOut<Result>(work: () => Result): Result {
      const before = countChanges();
      try {
        return work();
      } finally {
        undoTo(before);
      }
    },
  };

  function countChanges(): number {
    return forgotten + journal.length;
  }

  function undoTo(count: number): void {
    while (countChanges() > count) journal.pop()?.undo();
  }
}

const journalMs = 30_000;

/** The statement waits, because another transaction has locked a row that it needs. */
export class RowLocked extends Error {}

type Undo = { readonly at: number; readonly undo: () => void };

export class Table<Record> {
  readonly #rows = new Map<string, Record>();
  readonly #note: (undo: () => void) => void;

  constructor(note: (undo: () => void) => void) {
    this.#note = note;
  }

  get(key: string): Record | undefined {
    return this.#rows.get(key);
  }

  has(key: string): boolean {
    return this.#rows.has(key);
  }

  values(): Record[] {
    return [...this.#rows.values()];
  }

  entries(): [string, Record][] {
    return [...this.#rows];
  }

  put(key: string, row: Record): void {
    this.#noteEarlier(key);
    this.#rows.set(key, row);
  }

  delete(key: string): boolean {
    if (!this.#rows.has(key)) return false;
    this.#noteEarlier(key);
    return this.#rows.delete(key);
  }

  /** Adds a row with a unique key. Returns false if the key exists. */
  add(key: string, row: Record): boolean {
    if (this.#rows.has(key)) return false;
    this.put(key, row);
    return true;
  }

  #noteEarlier(key: string): void {
    const rows = this.#rows;
    const earlier = rows.get(key);
    this.#note(() => (earlier === undefined ? rows.delete(key) : rows.set(key, earlier)));
  }
}

/** An error as the driver reports it. */
export class ServerError extends Error {
  readonly code: string;

  constructor(code: string, message = code) {
    super(message);
    this.code = code;
  }
}

export type DatabaseModel = ReturnType<typeof makeDatabaseModel>;

export function makeDatabaseModel(statements: Readonly<Record<string, Statement>>) {
  const tables = makeTables();
  return {
    tables,
    execute(name: string, values: readonly unknown[], nowMs: number): Row[] {
      const statement = statements[name];
      if (statement === undefined) throw new Error(`the model knows no statement ${name}`);
      tables.setTime(nowMs);
      return tables.atomically(() => statement(tables, values, nowMs));
    },
  };
}

/** The elements of an array literal, as `gather.ts` writes them. */
export function readArray(literal: unknown): (string | null)[] {
  const text = String(literal).slice(1, -1);
  const elements: (string | null)[] = [];
  for (let at = 0; at < text.length; at += 1) {
    if (text[at] === '"') {
      let element = "";
      for (at += 1; text[at] !== '"'; at += 1) {
        if (text[at] === "\\") at += 1;
        element += text[at];
      }
      elements.push(element);
      at += 1;
    } else {
      const comma = text.indexOf(",", at);
      const end = comma < 0 ? text.length : comma;
      const element = text.slice(at, end);
      elements.push(element === "NULL" ? null : element);
      at = end;
    }
  }
  return elements;
}

export function readBytes(literal: unknown): (Buffer | null)[] {
  return readArray(literal).map((text) =>
    text === null ? null : Buffer.from(text.slice(2), "hex"),
  );
}

/** The elements of a JSON array, each as text. */
export function readDocuments(literal: unknown): string[] {
  return (JSON.parse(String(literal)) as unknown[]).map((element) => JSON.stringify(element));
}
