/** One click, one payment: each way through 3-D Secure, a wallet and a decline. */
import { Button } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { Refusal } from "../design/states.tsx";
import { Status } from "../design/status.tsx";
import { useMessages } from "../language/language.tsx";
import { call, type OutputOf } from "../shell/call.ts";
import { Link } from "../shell/url.tsx";

export type SandboxView = OutputOf<"GET /sandbox">;
type Payment = { readonly card: string; readonly endpoint: string; readonly wallet?: boolean };

/** Cards by their names in the bank's catalogue. */
// biome-ignore format: a table
const payments = {
  plain:        { card: "not-enrolled",     endpoint: "plain" },
  frictionless: { card: "frictionless",     endpoint: "secure" },
  challenge:    { card: "challenge",        endpoint: "secure" },
  version1:     { card: "v1-authenticated", endpoint: "secure" },
  wallet:       { card: "not-enrolled",     endpoint: "plain", wallet: true },
  decline:      { card: "decline-funds",    endpoint: "plain" },
} as const satisfies Readonly<Record<string, Payment>>;

export function TestPayments({ sandbox }: { readonly sandbox: SandboxView }) {
  return (
    <ul className="payments">
      {(Object.keys(payments) as (keyof typeof payments)[]).map((name) => (
        <li key={name}>
          <TestPayment name={name} sandbox={sandbox} />
        </li>
      ))}
    </ul>
  );
}

type TestPaymentProps = {
  readonly name: keyof typeof payments;
  readonly sandbox: SandboxView;
};

function TestPayment({ name, sandbox }: TestPaymentProps) {
  const messages = useMessages();
  const payment: Payment = payments[name];
  const endpoint = sandbox.endpoints.find((each) => each.name === payment.endpoint)?.id ?? "";
  return (
    <>
      <h2>{messages.payments[name]}</h2>
      <p className="quiet">{messages.paymentHints[name]}</p>
      <PayButton label={messages.pay} payment={{ ...payment, endpoint }} />
    </>
  );
}

type PayButtonProps = {
  readonly label: string;
  readonly payment: Payment;
};

/** Pays, and shows the result with a link to the order; a cardholder's step is a click further. */
export function PayButton({ label, payment }: PayButtonProps) {
  const messages = useMessages();
  const pay = useMutation({ mutationFn: () => call("POST /sandbox/pay", payment) });
  const { data } = pay;
  return (
    <>
      <div className="pay">
        <Button variant="default" loading={pay.isPending} onClick={() => pay.mutate()}>
          {label}
        </Button>
        {data && (
          <span className="pay-result" role="status">
            <Status status={data.status} />
            <Link to={`orders/${data.order}`}>{data.order}</Link>
          </span>
        )}
      </div>
      {data?.redirect !== undefined && (
        <Button component="a" href={data.redirect}>
          {messages.goOnAtBank}
        </Button>
      )}
      <Refusal text={pay.error?.message} />
    </>
  );
}
