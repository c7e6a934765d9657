/**
 * The screen of a merchant's statement: its balances, which only operators see, a line for each day
 * and currency, and a file with the same lines, which the browser makes.
 */
import { Button } from "@mantine/core";
import { asRows, useRows } from "../actions/values.ts";
import { Head, LoadedPart, Section } from "../design/details.tsx";
import { Icon } from "../design/icons.tsx";
import { Table } from "../design/table.tsx";
import { useMessages } from "../language/language.tsx";
import { FilterBar } from "../orders/filters.tsx";
import { configured, makeFilters, useKnown } from "../orders/order-query.ts";
import { useUser } from "../shell/session.ts";
import { useAddress } from "../shell/url.tsx";

const filters = makeFilters(["merchant", "from", "until"]);

export function Statement() {
  const messages = useMessages();
  const { isOperator, merchant: own } = useUser();
  const choices = configured(useKnown().data).merchant;
  const login = useAddress().query.get("merchant") ?? "";
  const offered = isOperator ? [{ name: "merchant", label: messages.merchant, choices }] : [];
  return (
    <div className="screen stack">
      <Head title={messages.statement} />
      <FilterBar offered={offered} own={filters} />
      <p className="quiet">{messages.statementHint}</p>
      {own === undefined && login === "" ? (
        <p role="status">{messages.reportNeedsMerchant}</p>
      ) : (
        <Lines login={own ?? login} />
      )}
    </div>
  );
}

const sums = ["gross", "fees", "returns", "chargebacks", "payouts", "net"] as const;
const names = ["day", "currency", ...sums];
type Line = Readonly<Record<string, string>>;

function Lines({ login }: { readonly login: string }) {
  const messages = useMessages();
  const { query } = useAddress();
  const [since, until] = [query.get("from"), query.get("until")];
  const found = useRows("statement", { login, ...(since && { since }), ...(until && { until }) });
  const cells = (found.data ?? []).map((line) => names.map((name) => line[name]));
  const csv = [names, ...cells].map((each) => `${each.join(",")}\r\n`).join("");
  return (
    <LoadedPart query={found}>
      {(lines) => (
        <>
          <Balances result={found.result} />
          <Button
            component="a"
            href={`data:text/csv;charset=utf-8,${encodeURIComponent(csv)}`}
            download="statement.csv"
            variant="default"
            leftSection={<Icon name="download" size={14} />}
          >
            {messages.exportCsv}
          </Button>
          <Table
            rows={lines}
            none={messages.noMovements}
            keyOf={({ day, currency }) => `${day} ${currency}`}
            columns={[
              [messages.day, ({ day }) => day],
              [messages.currency, ({ currency }) => currency, "quiet"],
              ...sums.map((sum) => [messages[sum], (row: Line) => row[sum], "number"] as const),
            ]}
          />
        </>
      )}
    </LoadedPart>
  );
}

const held = "amount-buffer-hold";

function Balances({ result = {} }: { readonly result: object | undefined }) {
  const messages = useMessages();
  const { balances = [] }: { readonly balances?: readonly object[] } = result;
  if (balances.length === 0) return null;
  return (
    <Section title={messages.balance}>
      <p className="quiet">{messages.balanceHint}</p>
      <Table
        rows={asRows(balances)}
        keyOf={({ currency }) => currency ?? ""}
        columns={[
          [messages.currency, ({ currency }) => currency],
          [messages.balance, ({ amount }) => amount, "number"],
          [messages.payoutsInFlight, (row) => row[held], "number"],
        ]}
      />
    </Section>
  );
}
