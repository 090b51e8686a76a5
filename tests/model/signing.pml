/*
 * What is signed, remembered and acknowledged of one log, and what somebody with the database does in between. docs/design/signing.md
 * explains it. `tests/model/check` runs it, and each MUTANT, which must fail.
 *
 * A state of a log is a number. Each event that is appended makes a new state of the one that it was appended to, so states are a tree, and
 * one continues another if that is on its path to the empty log, which is state 0. The head of a state has a code that only the service can
 * make, so the database has one of the states that the service made, or rows that are not those of its head.
 */

#ifndef STATES
#define STATES 6
#endif
#ifndef MUTANT
#define MUTANT 0
#endif
/* Heads that the state file has beside the signed one. */
#define PENDING_MAX 2

/* The tree of states. */
byte parent[STATES];
byte size[STATES];
byte states = 1;

/* The database. */
byte head = 0;
bool rows_are_right = true;

/* The state file, which survives the process and is not in reach of who has the database. */
byte sealed = 0;
bit pending[STATES];
byte pending_count = 0;

/* The process: the largest size at which the log could not be signed, and whether the log takes events. */
byte known_size = 0;
bool is_stopped = false;

/* An auditor, who has seen a signed state. */
byte audited = 0;

/* The events that the signer has seen in the head: signed, or remembered because it could not sign. */
bit seen[STATES];

/* Variables of the inline procedures below. No step keeps them, so they are no part of a state. */
hidden byte at, other, largest, chosen, event;
hidden byte is_later, finds;

/* is_later: the state `to` is `from`, or continues it. */
inline compare(from, to) {
    at = to;
    do
    :: at != from && at != 0 -> at = parent[at]
    :: else -> break
    od;
    is_later = (at == from)
}

/* finds: what `log verify` finds on the node, in this state of the database. */
inline verify(which) {
    finds = !rows_are_right;
    compare(sealed, which);
    finds = finds || !is_later;
    other = 0;
    do
    :: other < states ->
        if
        :: pending[other] -> compare(other, which); finds = finds || !is_later
        :: else
        fi;
        other++
    :: else -> break
    od
}

/* Marks the events of a state as seen by the signer. */
inline mark(which) {
    at = which;
    do
    :: at != 0 -> seen[at] = 1; at = parent[at]
    :: else -> break
    od
}

/* The largest state that could not be signed. */
inline load_size() {
    largest = 0;
    other = 0;
    do
    :: other < states ->
        if
        :: pending[other] && size[other] > largest -> largest = size[other]
        :: else
        fi;
        other++
    :: else -> break
    od;
    known_size = largest
}

/* Requests: an event is acknowledged when the transaction has ended that stores it with the head. */
active proctype appender() {
    do
    :: atomic {
        states < STATES && !is_stopped && size[head] >= known_size ->
        parent[states] = head;
        size[states] = size[head] + 1;
        head = states;
        states++
    }
    od
}

/* A signing round: reads the head and the rows in one snapshot, decides, and writes the state file before anything is published. */
active proctype signer() {
    byte read;
    bool are_right;
    bool is_refused = false;
    do
    :: atomic { read = head; are_right = rows_are_right };
        atomic {
            /* Tiles are not read: who plants one changes nothing here. */
            compare(sealed, read);
            finds = !is_later || !are_right;
            other = 0;
            do
            :: other < states ->
                if
                :: pending[other] && MUTANT != 1 ->
                    compare(other, read);
                    finds = finds || !is_later
                :: else
                fi;
                other++
            :: else -> break
            od;
            is_refused = finds;
            if
            :: !finds ->
                /* Nothing that the signer has seen is missing. */
                other = 0;
                do
                :: other < states ->
                    if
                    :: seen[other] -> compare(other, read); assert(is_later)
                    :: else
                    fi;
                    other++
                :: else -> break
                od;
                sealed = read;
                other = 0;
                do
                :: other < states -> pending[other] = 0; other++
                :: else -> break
                od;
                pending_count = 0;
                is_stopped = false;
                mark(read)
            :: else ->
                if
                :: size[read] > size[sealed] && !pending[read] && pending_count < PENDING_MAX && MUTANT != 2 ->
                    pending[read] = 1;
                    pending_count++;
                    mark(read)
                :: size[read] > size[sealed] && MUTANT == 2 -> mark(read)
                :: else
                fi
            fi;
            load_size();
            read = 0;
            are_right = false
        }
    /* The time of a log that cannot be signed is over. */
    :: atomic { is_refused -> is_stopped = true }
    /* The process ends, and another one begins with the state file. */
    :: atomic {
        is_stopped = (pending_count > 0);
        is_refused = false;
        if
        :: MUTANT == 3 ->
            other = 0;
            do
            :: other < states -> pending[other] = 0; other++
            :: else -> break
            od;
            pending_count = 0
        :: else
        fi;
        load_size()
    }
    od
}

/* Somebody with the database: puts back any state that the service made, with its rows, and changes rows and puts them back. */
active proctype adversary() {
    do
    :: atomic {
        chosen = 0;
        do
        :: chosen + 1 < states -> chosen++
        :: break
        od;
        head = chosen;
        rows_are_right = true
    }
    :: rows_are_right = false
    :: rows_are_right = true
    od
}

/* An auditor gets the signed state, which continues the one of the last audit. */
active proctype auditor() {
    do
    :: atomic {
        compare(audited, sealed);
        assert(is_later);
        audited = sealed
    }
    od
}

/* At any time: an event that the signer has seen is in the log, or `log verify` finds that the log was changed. */
active proctype operator() {
    do
    :: atomic {
        verify(head);
        event = 1;
        do
        :: event < states ->
            if
            :: seen[event] && !finds -> compare(event, head); assert(is_later)
            :: else
            fi;
            event++
        :: else -> break
        od
    }
    od
}
