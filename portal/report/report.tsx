/**
 * The screen of the transaction report. The browser downloads the file while the gateway still
 * reads the transactions, so that a report may be of any size.
 */
import { Button } from "@mantine/core";
import { ActionButton } from "../actions/action-button.tsx";
import { useRows } from "../actions/values.ts";
import { StateMark } from "../callbacks/state.tsx";
import { Head, LoadedPart, PrintedTime, Section } from "../design/details.tsx";
import { Icon } from "../design/icons.tsx";
import { Table } from "../design/table.tsx";
import { useMessages } from "../language/language.tsx";
import { FilterBar } from "../orders/filters.tsx";
import { configured, makeFilters, readListQuery, useKnown } from "../orders/order-query.ts";
import { type InputOf, requestFor, useAnswer } from "../shell/call.ts";
import { useUser } from "../shell/session.ts";
import { useAddress } from "../shell/url.tsx";

/** The filter names types as the report's file does, so that users recognise them there. */
const types = [
  ...["sale", "preauth", "capture", "account-verification", "reversal", "refund", "cancel"],
  ...["void", "payout", "chargeback", "chargeback-reversal", "retrieval", "dispute", "fraud"],
];
const statuses = ["approved", "declined", "filtered", "error", "processing"];
const listed = ["type", "status", "endpoint"];
const filters = makeFilters([...listed, "merchant", "from", "until"]);

export function Report() {
  const messages = useMessages();
  const { isOperator, merchant: own } = useUser();
  const { data: known } = useKnown();
  const { query } = useAddress();
  const login = own ?? query.get("merchant") ?? undefined;
  const { merchant, endpoint } = configured(known);
  const words = (all: readonly string[]) => all.map((value) => ({ value, label: value }));
  const offered = [
    ...(isOperator ? [{ name: "merchant", label: messages.merchant, choices: merchant }] : []),
    { name: "type", label: messages.type, choices: words(types) },
    { name: "status", label: messages.status, choices: words(statuses) },
    { name: "endpoint", label: messages.endpoint, choices: endpoint },
  ];
  const needsMerchant = isOperator && !query.has("merchant");
  const input: InputOf<"GET /exports/transactions"> = readListQuery(query, listed);
  const { address } = requestFor("GET /exports/transactions", input);
  return (
    <div className="screen stack">
      <Head title={messages["transaction-report"]}>
        {!needsMerchant && (
          <Button
            component="a"
            href={address}
            download="transaction-report.csv"
            variant="default"
            leftSection={<Icon name="download" size={14} />}
          >
            {messages.exportCsv}
          </Button>
        )}
      </Head>
      <FilterBar offered={offered} own={filters} />
      {needsMerchant && <p role="status">{messages.reportNeedsMerchant}</p>}
      <p className="quiet">{messages.reportHint}</p>
      <p className="quiet">{messages.reportColumnsHint}</p>
      {login !== undefined && <DailyReports login={login} />}
    </div>
  );
}

/** The days whose report goes to the merchant's own address, and the setting of the address. */
function DailyReports({ login }: { readonly login: string }) {
  const messages = useMessages();
  const { may } = useUser();
  const found = useRows("merchant report list", { login });
  const change = may("see_configuration") && <SetAddress login={login} />;
  return (
    <Section title={messages.dailyReports} action={change}>
      <p className="quiet section-hint">{messages.dailyReportsHint}</p>
      <LoadedPart query={found}>
        {(days) => (
          <Table
            rows={days}
            none={messages.noDailyReports}
            keyOf={({ day = "" }) => day}
            columns={[
              [messages.day, ({ day }) => day],
              [messages.status, ({ state }) => <StateMark state={state} />],
              [messages.answer, ({ status, failure }) => status || failure, "quiet"],
              [messages.latestAttempt, ({ at }) => <PrintedTime text={at} />, "time"],
            ]}
          />
        )}
      </LoadedPart>
    </Section>
  );
}

function SetAddress({ login }: { readonly login: string }) {
  const { data } = useAnswer("GET /merchants/:login", { login });
  if (data === undefined) return null;
  return <ActionButton action="merchant report set" values={{ login }} known={data.settings} />;
}
