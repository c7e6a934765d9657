/** The sandbox of staging: test payments, test cards, the bank's switches, and both books. */
import { Skeleton } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Failed } from "../design/states.tsx";
import { useMessages } from "../language/language.tsx";
import { call } from "../shell/call.ts";
import { Link, usePlace } from "../shell/url.tsx";
import { Cards } from "./cards.tsx";
import { Ledger } from "./ledger.tsx";
import { TestPayments } from "./payments.tsx";
import { Switches } from "./switches.tsx";
import { viewIn, views } from "./test-payments.ts";

export function Sandbox() {
  const messages = useMessages();
  const view = viewIn(usePlace().query);
  const found = useQuery({
    queryKey: ["sandbox"],
    queryFn: ({ signal }) => call("GET /sandbox", {}, { signal }),
  });
  const { data } = found;
  return (
    <div className="screen">
      <div className="heading">
        <h1>{messages.sandbox}</h1>
        <span className="note">{messages.sandboxHint}</span>
        <div className="space" />
        {data && (
          <span className="heading-links">
            <a href={data.shop}>{messages.demonstrationShop}</a>
          </span>
        )}
      </div>
      <nav className="views" aria-label={messages.views}>
        {views.map((each) => (
          <Link
            key={each}
            to={each === "testPayments" ? "sandbox" : `sandbox?view=${each}`}
            className="view"
            isCurrent={each === view}
          >
            {messages[each]}
          </Link>
        ))}
      </nav>
      {found.error !== null && <Failed error={found.error} retry={() => void found.refetch()} />}
      {data === undefined && found.error === null && <Skeleton height={240} />}
      {data && view === "testPayments" && <TestPayments sandbox={data} />}
      {data && view === "testCards" && <Cards sandbox={data} />}
      {data && view === "switches" && <Switches sandbox={data} />}
      {view === "ledger" && <Ledger />}
    </div>
  );
}
