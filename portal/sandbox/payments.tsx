/** One click, one payment: each way through 3-D Secure, a wallet and a decline. */
import { Button } from "@mantine/core";
import { usePerformer } from "../actions/performer.tsx";
import { Refusal } from "../design/states.tsx";
import { Status } from "../design/status.tsx";
import { useMessages } from "../language/language.tsx";
import { call } from "../shell/call.ts";
import { Link } from "../shell/url.tsx";
import { endpointNamed, type Payment, payments, type SandboxView } from "./test-payments.ts";

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
  const endpoint = endpointNamed(payment.endpoint, sandbox);
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
  const pay = usePerformer(() => call("POST /sandbox/pay", payment));
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
