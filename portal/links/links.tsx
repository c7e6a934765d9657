/** The payment links, the latest first, and the form for a new one. */
import { ActionButton } from "../actions/action-button.tsx";
import { Head, Mark, Time } from "../design/details.tsx";
import { List } from "../design/list.tsx";
import { useMessages } from "../language/language.tsx";
import { Amount } from "../orders/order-table.tsx";
import { useAnswer } from "../shell/call.ts";
import { useUser } from "../shell/session.ts";
import { go, Link, useAddress } from "../shell/url.tsx";
import { type LinkLine, stateColours, usesOf } from "./link-facts.ts";

export function Links() {
  const messages = useMessages();
  const { isOperator } = useUser();
  const after = useAddress().query.get("after");
  const found = useAnswer("GET /links", after ? { after } : {}, { keepsBefore: true });
  return (
    <div className="screen stack">
      <Head title={messages["payment-links"]}>
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
