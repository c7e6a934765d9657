/** One payment link: its address, its QR code to show or print, and the orders paid with it. */
import { useQuery } from "@tanstack/react-query";
import { ActionButton } from "../actions/action-button.tsx";
import { Facts, Head, Loaded, LoadedPart, Section, Stamp } from "../design/details.tsx";
import { CopyButton } from "../design/dialog.tsx";
import { useConfigurationMessages } from "../language/language.tsx";
import { OrderTable } from "../orders/order-table.tsx";
import { call, type OutputOf, type User } from "../shell/call.ts";
import { Link as PortalLink, usePlace } from "../shell/url.tsx";
import { factsOf, mayEnd } from "./link-facts.ts";
import { LinkState } from "./links.tsx";

type LinkDetail = OutputOf<"GET /links/:link">;

export function PaymentLink({ user }: { readonly user: User }) {
  const { item: link } = usePlace();
  const found = useQuery({
    queryKey: ["link", link],
    queryFn: ({ signal }) => call("GET /links/:link", { link }, { signal }),
  });
  return <Loaded query={found}>{(detail) => <Shown detail={detail} user={user} />}</Loaded>;
}

const showStamp = (at: number, by?: string) => <Stamp at={at} by={by} />;

function Shown({ detail, user }: { readonly detail: LinkDetail; readonly user: User }) {
  const messages = useConfigurationMessages();
  const { line, url, svg } = detail;
  const amount = `${line.amount.text} ${line.amount.currency}`;
  const picture = `data:image/svg+xml,${encodeURIComponent(svg)}`;
  return (
    <div className="screen">
      <Head
        back={{ to: "payment-links", label: messages["payment-links"] }}
        title={amount}
        state={<LinkState state={line.state} />}
      >
        <CopyButton text={url} label={messages.copyAddress} />
        {mayEnd(line, user) && (
          <ActionButton
            action="link close"
            label={messages.endLink}
            title={messages.endLinkOf(amount)}
            isDangerous
            values={{ link: line.link }}
          />
        )}
      </Head>
      <Facts facts={factsOf(detail, messages, showStamp)} />
      <div className="link-columns">
        <figure className="link-code">
          <img src={picture} alt={messages.qrCode} width={200} height={200} />
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
      <LinkOrders link={line.link} user={user} />
    </div>
  );
}

function LinkOrders({ link, user }: { readonly link: string; readonly user: User }) {
  const messages = useConfigurationMessages();
  const found = useQuery({
    queryKey: ["orders", "of link", link],
    queryFn: ({ signal }) => call("GET /orders", { link: [link] }, { signal }),
  });
  return (
    <Section
      title={messages.orders}
      action={<PortalLink to={`orders?link=${link}`}>{messages.allOfThem}</PortalLink>}
    >
      <LoadedPart query={found}>
        {({ orders }) =>
          orders.length === 0 ? (
            <p className="quiet">{messages.noOrdersOfLink}</p>
          ) : (
            <OrderTable orders={orders} selected="" isOld={false} user={user} />
          )
        }
      </LoadedPart>
    </Section>
  );
}
