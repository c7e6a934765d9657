/**
 * The sandbox of staging: test payments, test cards, the bank's switches, and the compared ledgers.
 */
import { Head, Loaded, Tabs } from "../design/details.tsx";
import { useMessages } from "../language/language.tsx";
import { useAnswer } from "../shell/call.ts";
import { Cards, PayButton } from "./cards.tsx";
import { Ledger } from "./ledger.tsx";
import { Switches } from "./switches.tsx";
import { endpointNamed, type Payment, payments, type SandboxView } from "./test-payments.ts";

export function Sandbox() {
  const messages = useMessages();
  const found = useAnswer("GET /sandbox", {});
  return (
    <Loaded query={found}>
      {(sandbox) => (
        <div className="screen stack">
          <Head
            title={messages.sandbox}
            state={<span className="note">{messages.sandboxHint}</span>}
          >
            <a href={sandbox.shop}>{messages.demonstrationShop}</a>
          </Head>
          <Tabs
            path="sandbox"
            label={messages.views}
            parameter="view"
            tabs={[
              ["testPayments", messages.testPayments, () => <TestPayments sandbox={sandbox} />],
              ["testCards", messages.testCards, () => <Cards sandbox={sandbox} />],
              ["switches", messages.switches, () => <Switches sandbox={sandbox} />],
              ["ledger", messages.ledger, () => <Ledger />],
            ]}
          />
        </div>
      )}
    </Loaded>
  );
}

function TestPayments({ sandbox }: { readonly sandbox: SandboxView }) {
  const messages = useMessages();
  return (
    <ul className="payments">
      {(Object.keys(payments) as (keyof typeof payments)[]).map((name) => {
        const payment: Payment = payments[name];
        const endpoint = endpointNamed(payment.endpoint, sandbox);
        return (
          <li className="stack" key={name}>
            <h2>{messages.payments[name]}</h2>
            <p className="quiet">{messages.paymentHints[name]}</p>
            <PayButton label={messages.pay} payment={{ ...payment, endpoint }} />
          </li>
        );
      })}
    </ul>
  );
}
