/** Payment links: the latest first, and the form of a new one. */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { ActionButton } from "../actions/action-button.tsx";
import { Head, Loaded, Mark, Time } from "../design/details.tsx";
import { Nothing, Pages } from "../design/states.tsx";
import { TableHead } from "../design/table.tsx";
import { useConfigurationMessages } from "../language/language.tsx";
import { call, type User } from "../shell/call.ts";
import { go, Link, usePlace } from "../shell/url.tsx";
import { type LinkLine, stateColours, usesOf } from "./link-facts.ts";

export function Links({ user }: { readonly user: User }) {
  const messages = useConfigurationMessages();
  const { query } = usePlace();
  const after = query.get("after") ?? undefined;
  const found = useQuery({
    queryKey: ["links", after],
    queryFn: ({ signal }) => call("GET /links", after ? { after } : {}, { signal }),
    placeholderData: keepPreviousData,
  });
  const create = user.rights.includes("move_money") && (
    <ActionButton
      action="link create"
      label={messages.newLink}
      isMain
      onDone={(result) => go(`payment-links/${Reflect.get(result, "link")}`)}
    />
  );
  return (
    <div className="screen">
      <Head title={messages["payment-links"]}>{create}</Head>
      <Loaded query={found}>
        {({ links, next }) =>
          links.length === 0 ? (
            <Nothing title={messages.noLinks} hint={messages.noLinksHint} />
          ) : (
            <>
              <LinkTable links={links} isOperator={user.merchant === undefined} />
              <Pages text="" next={next} isFirst={after === undefined} />
            </>
          )
        }
      </Loaded>
    </div>
  );
}

type TableProps = { readonly links: readonly LinkLine[]; readonly isOperator: boolean };

function LinkTable({ links, isOperator }: TableProps) {
  const messages = useConfigurationMessages();
  return (
    <table className="rows stacked">
      <TableHead
        columns={[
          [messages.amount, "number"],
          messages.status,
          messages.description,
          messages.uses,
          isOperator && messages.merchant,
          [messages.created, "time"],
        ]}
      />
      <tbody>
        {links.map((link) => (
          <tr key={link.link} onClick={() => go(`payment-links/${link.link}`)}>
            <td className="number">
              {link.amount.text} <small>{link.amount.currency}</small>
            </td>
            <td>
              <LinkState state={link.state} />
            </td>
            <td className="wide">
              <Link to={`payment-links/${link.link}`}>{link.description || link.link}</Link>
            </td>
            <td className="quiet" data-name={messages.uses}>
              {usesOf(link, messages.anyNumber)}
            </td>
            {isOperator && (
              <td className="quiet" data-name={messages.merchant}>
                {link.merchant}
              </td>
            )}
            <td className="time" data-name={messages.created}>
              <Time at={link.createdAt} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

export function LinkState({ state }: { readonly state: LinkLine["state"] }) {
  const messages = useConfigurationMessages();
  return <Mark kind={stateColours[state]}>{messages.linkStates[state]}</Mark>;
}
