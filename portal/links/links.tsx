/** The screens of payment links: the list, the form for a new link, and the page of one link. */
import { ActionButton } from "../actions/action-button.tsx";
import { Facts, Head, Loaded, LoadedPart, Mark, Section, Stamp, Time } from "../design/details.tsx";
import { CopyButton } from "../design/dialog.tsx";
import { List } from "../design/list.tsx";
import { useMessages } from "../language/language.tsx";
import { Amount, OrderTable } from "../orders/order-table.tsx";
import { type OutputOf, useAnswer } from "../shell/call.ts";
import { useUser } from "../shell/session.ts";
import { go, Link, Link as PortalLink, useAddress } from "../shell/url.tsx";
import { factsOf, type LinkLine, mayEnd, stateColours, usesOf } from "./link-facts.ts";

export function Links() {
  const messages = useMessages();
  const { isOperator } = useUser();
  const after = useAddress().query.get("after");
  const found = useAnswer("GET /links", after ? { after } : {}, { keepsBefore: true });
  return (
    <div className="screen stack">
      <Head title={messages["payment-links"]}>
        <ActionButton
          action="terminal open"
          onDone={(result) => go(`payment-links/${Reflect.get(result, "link")}`)}
        />
        <ActionButton
          action="link create"
          isMain
          onDone={(result) => go(`payment-links/${Reflect.get(result, "link")}`)}
        />
      </Head>
      <List
        found={found}
        rowsOf={({ links }) => links}
        none={[messages.noLinks, messages.noLinksHint]}
        keyOf={({ link }) => link}
        opens={({ link }) => `payment-links/${link}`}
        columns={[
          [messages.amount, ({ amount }) => <Amount {...amount} />, "number"],
          [messages.status, ({ state }) => <LinkState state={state} />],
          [
            messages.fields.description,
            ({ link, description }) => (
              <Link to={`payment-links/${link}`}>{description || link}</Link>
            ),
            "wide",
          ],
          [messages.uses, (link) => usesOf(link, messages.anyNumber), "quiet"],
          isOperator && [messages.merchant, ({ merchant }) => merchant, "quiet"],
          [messages.fields["created-at"], ({ createdAt }) => <Time at={createdAt} />, "time"],
        ]}
      />
    </div>
  );
}

export function LinkState({ state }: { readonly state: LinkLine["state"] }) {
  const messages = useMessages();
  return <Mark kind={stateColours[state]}>{messages.linkStates[state]}</Mark>;
}

type LinkDetail = OutputOf<"GET /links/:link">;

export function PaymentLink() {
  const found = useAnswer("GET /links/:link", { link: useAddress().item });
  return <Loaded query={found}>{(detail) => <Shown detail={detail} />}</Loaded>;
}

const showStamp = (at: number, by?: string) => <Stamp at={at} by={by} />;

function Shown({ detail }: { readonly detail: LinkDetail }) {
  const messages = useMessages();
  const user = useUser();
  const { line, url, svg } = detail;
  const amount = `${line.amount.text} ${line.amount.currency}`;
  const picture = `data:image/svg+xml,${encodeURIComponent(svg)}`;
  return (
    <div className="screen stack">
      <Head
        back={{ to: "payment-links", label: messages["payment-links"] }}
        title={amount}
        state={<LinkState state={line.state} />}
      >
        <a href={url} target="_blank" rel="noreferrer">
          {messages.openPaymentPage}
        </a>
        <CopyButton text={url} label={messages.copyAddress} />
        {mayEnd(line, user) && (
          <ActionButton action="link close" name={amount} values={{ link: line.link }} />
        )}
      </Head>
      <Facts facts={factsOf(detail, messages, showStamp)} />
      <div className="link-columns">
        <figure className="link-code">
          <img className="qr" src={picture} alt={messages.linkQrCode} width={200} height={200} />
          <figcaption>
            <a href={picture} download={`payment-link-${line.link}.svg`}>
              {messages.downloadSvg}
            </a>
          </figcaption>
        </figure>
        <Section title={messages.address}>
          <pre>{url}</pre>
        </Section>
      </div>
      <LinkOrders link={line.link} />
    </div>
  );
}

function LinkOrders({ link }: { readonly link: string }) {
  const messages = useMessages();
  const found = useAnswer("GET /orders", { link: [link] });
  return (
    <Section
      title={messages.orders}
      action={<PortalLink to={`orders?link=${link}`}>{messages.allOfThem}</PortalLink>}
    >
      <LoadedPart query={found}>
        {({ orders }) => <OrderTable orders={orders} none={messages.noOrdersOfLink} />}
      </LoadedPart>
    </Section>
  );
}
