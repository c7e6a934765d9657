/**
 * The shop's orders, in a SQLite file. The shop's knowledge of an order only grows: a result that
 * is older than the known one changes nothing, so repeated and reordered callbacks are harmless.
 * There is no column for card data.
 */
import { DatabaseSync } from "node:sqlite";
import { toMinorUnits } from "@tollgate/client";

export type State = "open" | "failed" | "paid" | "refunded";

export type NewOrder = {
  /** The `client_orderid`, which the gateway charges only once. */
  readonly id: string;
  readonly customer: string;
  readonly title: string;
  readonly amount: string;
  readonly currency: string;
  /** Whether to register the card when the order is paid. */
  readonly keepCard: boolean;
  /** Whether the customer agreed to a charge every month. */
  readonly isMonthly: boolean;
  /** The monthly order of which this is a later charge. */
  readonly follows: string | null;
};

export type Order = Omit<NewOrder, "keepCard" | "isMonthly"> & {
  readonly keepCard: number;
  readonly isMonthly: number;
  readonly state: State;
  /** The step that an open order waits for, or the reason of a failed one. */
  readonly detail: string;
  readonly refunded: string;
  readonly gatewayOrder: string | null;
  /** The gateway's payment page, if the customer pays there. */
  readonly paymentPage: string | null;
  readonly cardReference: string | null;
  /** The recurring payment profile of the saved card, which a subscription is charged through. */
  readonly profile: string | null;
  /** The name of the saved card, like `VISA ···· 0016`. */
  readonly cardName: string | null;
};

/** A result from the gateway about an order. */
export type News = {
  readonly state: State;
  readonly detail?: string;
  readonly gatewayOrder?: string;
  readonly refunded?: string;
};

/** The order of states. A result with a lower rank than the order's state is late. */
const rank: Readonly<Record<State, number>> = { open: 0, failed: 1, paid: 2, refunded: 3 };

const tables = `
  pragma journal_mode = wal;
  create table if not exists orders (
    id text primary key, customer text not null, title text not null,
    amount text not null, currency text not null, keepCard integer not null,
    isMonthly integer not null, follows text references orders,
    state text not null default 'open', detail text not null default 'sending',
    refunded text not null default '0.00', gatewayOrder text, paymentPage text,
    cardReference text, cardName text, profile text
  ) strict;
  create table if not exists history (
    orderId text not null references orders, at text not null, what text not null
  ) strict;`;

/** The time for which a change waits for that of another process. */
const busyMs = 5_000;

export type Orders = ReturnType<typeof openOrders>;

export function openOrders(file: string) {
  const database = new DatabaseSync(file, { timeout: busyMs });
  database.exec(tables);
  const columns = database.prepare("select name from pragma_table_info('orders')").all();
  // The file of an earlier version of the shop lacks the column.
  if (!columns.some(({ name }) => name === "profile")) {
    database.exec("alter table orders add column profile text");
  }
  const run = (sql: string, ...values: readonly (string | number | null)[]) =>
    database.prepare(sql).run(...values);
  const list = (sql: string, ...values: readonly (string | number | null)[]) =>
    database.prepare(sql).all(...values) as unknown[] as readonly Order[];
  const find = (id: string) => list("select * from orders where id = ?", id)[0];
  const note = (id: string, what: string) =>
    run("insert into history values (?, ?, ?)", id, new Date().toISOString(), what);

  return {
    find,
    history: (id: string) =>
      database.prepare("select at, what from history where orderId = ? order by rowid").all(id),
    /** Returns the orders about which the gateway has to be asked. */
    unsettled: () =>
      list(`select * from orders where state = 'open'
        or (state = 'paid' and keepCard = 1 and profile is null)`),
    ofCustomer: (customer: string) =>
      list("select * from orders where customer = ? order by rowid desc", customer),
    following: (id: string) => list("select * from orders where follows = ? order by rowid", id),

    /**
     * Stores the order before anything is sent. Returns false if it must not be sent because it
     * exists already. Only an order that the gateway has never received may be sent again, under
     * the same id.
     */
    begin({ id, customer, title, amount, currency, ...rest }: NewOrder): boolean {
      const { keepCard, isMonthly, follows } = rest;
      return atOnce(() => {
        const known = find(id);
        if (known === undefined) {
          run(
            `insert into orders (id, customer, title, amount, currency, keepCard, isMonthly,
              follows) values (?, ?, ?, ?, ?, ?, ?, ?)`,
            ...[id, customer, title, amount, currency, Number(keepCard), Number(isMonthly)],
            follows,
          );
          note(id, "ordered");
          return true;
        }
        if (!isNotReceived(known)) return false;
        // The customer may have agreed to something else this time, and another visitor's card is
        // not saved.
        const agreed = [keepCard, isMonthly].map((each) =>
          Number(each && known.customer === customer),
        );
        run(
          "update orders set detail = 'sending', keepCard = ?, isMonthly = ? where id = ?",
          ...[...agreed, id],
        );
        return true;
      });
    },

    /**
     * The gateway has acknowledged the order. A failure that is known already belongs to an earlier
     * attempt.
     */
    acknowledge(id: string, gatewayOrder: string, paymentPage: string | null): void {
      run(
        `update orders set state = 'open', detail = 'processing' where id = ?
          and state in ('open', 'failed') and gatewayOrder is not ?`,
        ...[id, gatewayOrder],
      );
      run(
        "update orders set gatewayOrder = ?, paymentPage = ? where id = ?",
        ...[gatewayOrder, paymentPage, id],
      );
    },

    apply(id: string, news: News): void {
      // The order is shipped in the same transaction as the payment, so only once, even after
      // repeats and crashes, or if two processes receive the result.
      atOnce(() => {
        const order = find(id);
        if (order === undefined || rank[news.state] < rank[order.state]) return;
        const { gatewayOrder = order.gatewayOrder } = news;
        // The gateway has received what it has acknowledged, even if it does not find it now.
        const isLost = isNotReceived(news) && order.gatewayOrder !== null;
        const detail = isLost ? "unreachable" : (news.detail ?? "");
        const refunded = larger(order, news.refunded ?? order.refunded);
        run(
          "update orders set state = ?, detail = ?, gatewayOrder = ?, refunded = ? where id = ?",
          ...[news.state, detail, gatewayOrder, refunded, id],
        );
        if (news.state === order.state) return;
        note(id, news.state);
        if (news.state === "paid") note(id, "shipped");
      });
    },

    keepCard(id: string, reference: string, profile: string, name: string): void {
      run(
        "update orders set cardReference = ?, profile = ?, cardName = ? where id = ?",
        ...[reference, profile, name, id],
      );
    },
    dropCard(id: string): void {
      run("update orders set keepCard = 0, cardReference = null, profile = null where id = ?", id);
    },
    close: () => database.close(),
  };

  /** Runs a change during which no other process writes, so that what it has read stays valid. */
  function atOnce<Result>(change: () => Result): Result {
    database.exec("begin immediate");
    try {
      const result = change();
      database.exec("commit");
      return result;
    } catch (error) {
      database.exec("rollback");
      throw error;
    }
  }
}

/** Whether the gateway has never had the order, which may then be sent again under the same id. */
export function isNotReceived({ state, detail }: Pick<News, "state" | "detail">): boolean {
  return state === "open" && detail === "not_received";
}

/** Returns the next month to charge. A month that the gateway has not received is charged again. */
export function monthToCharge(following: readonly Order[]): number {
  const last = following.at(-1);
  return following.length + (last !== undefined && isNotReceived(last) ? 1 : 2);
}

function larger({ refunded, currency }: Order, amount: string): string {
  const [known, told] = [refunded, amount].map((each) => Number(toMinorUnits(each, currency)));
  return (told ?? 0) > (known ?? 0) ? amount : refunded;
}
