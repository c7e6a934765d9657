/**
 * The screen of the transaction report. The user chooses a time span, types, statuses and
 * endpoints, and gets a file. The browser downloads the file while the gateway still reads the
 * transactions, so that a report may be of any size.
 */
import { Button } from "@mantine/core";
import { Head } from "../design/details.tsx";
import { Icon } from "../design/icons.tsx";
import { useMessages } from "../language/language.tsx";
import { FilterBar } from "../orders/filters.tsx";
import { configured, makeFilters, readListQuery, useKnown } from "../orders/order-query.ts";
import { type InputOf, requestFor } from "../shell/call.ts";
import { useUser } from "../shell/session.ts";
import { useAddress } from "../shell/url.tsx";

/**
 * The types of transactions, by the names that the report's file uses, so that users recognise them
 * in the file.
 */
const types = [
  ...["sale", "preauth", "capture", "account-verification", "reversal", "refund", "cancel"],
  ...["void", "payout", "chargeback", "chargeback-reversal", "retrieval", "dispute", "fraud"],
];
const statuses = ["approved", "declined", "filtered", "error", "processing"];
const listed = ["type", "status", "endpoint"];
const filters = makeFilters([...listed, "merchant", "from", "until"]);

export function Report() {
  const messages = useMessages();
  const { isOperator } = useUser();
  const { data: known } = useKnown();
  const { query } = useAddress();
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
    </div>
  );
}
