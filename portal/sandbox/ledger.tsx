/** Compares the bank's ledger with the gateway's orders, and shows every difference. */
import { Mark } from "../design/details.tsx";
import { List } from "../design/list.tsx";
import { Table } from "../design/table.tsx";
import { useMessages } from "../language/language.tsx";
import { useAnswer } from "../shell/call.ts";
import { Link } from "../shell/url.tsx";
import { type Booked, comparisonOf } from "./test-payments.ts";

const againEveryMs = 5_000;

export function Ledger() {
  const messages = useMessages();
  const found = useAnswer("GET /sandbox/ledger", {}, { everyMs: againEveryMs });
  return (
    <List
      found={found}
      rowsOf={({ booked }) => booked}
      none={[messages.noBookings, messages.noBookingsHint]}
    >
      {(booked) => <Books booked={booked} />}
    </List>
  );
}

function Books({ booked }: { readonly booked: readonly Booked[] }) {
  const messages = useMessages();
  const differing = booked.filter(({ differs }) => differs).length;
  const show = (money: Booked["bank"]) =>
    money === undefined ? messages.nothingBooked : `${money.text} ${money.currency}`;
  return (
    <>
      <p className="quiet">{messages.ledgerHint}</p>
      <p className={differing === 0 ? "success" : "refusal"} role="status">
        {differing === 0 ? messages.booksAgree : messages.booksDiffer(differing)}
      </p>
      <Table
        rows={booked}
        keyOf={({ reference }) => reference}
        columns={[
          [
            messages.order,
            ({ order }) =>
              order === undefined ? (
                messages.unknownHere
              ) : (
                <Link to={`orders/${order}`}>{order}</Link>
              ),
          ],
          [messages.reference, ({ reference }) => <code>{reference}</code>, "mono"],
          [messages.atBank, ({ bank }) => show(bank), "number plain"],
          [
            messages.here,
            ({ gateway, isHeld }) => (
              <>
                {show(gateway)} {isHeld && <small>{messages.held}</small>}
              </>
            ),
            "number plain",
          ],
          [messages.difference, (row) => <Comparison row={row} />],
        ]}
      />
    </>
  );
}

function Comparison({ row }: { readonly row: Booked }) {
  const [colour, word] = comparisonOf(row);
  return <Mark kind={colour}>{useMessages()[word]}</Mark>;
}
