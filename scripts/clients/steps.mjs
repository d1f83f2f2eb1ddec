// What the clients use and Node 20 does not have.
Object.groupBy ??= (items, key) => items.reduce((groups, item) => ({ ...groups, [key(item)]: [...(groups[key(item)] ?? []), item] }), {});
Set.prototype.union ??= function (other) { return new Set([...this, ...other]); };
Set.prototype.intersection ??= function (other) { return new Set([...this].filter((item) => other.has(item))); };

// The steps of a client, one line each: ok or FAIL, client, step, and what went wrong.
export function stepsOf(client) {
  return async function step(name, does) {
    try {
      const result = await does();
      console.log(['ok', client, name, ''].join('\t'));
      return result;
    } catch (e) {
      console.log(['FAIL', client, name, reasonOf(e)].join('\t'));
      return undefined;
    }
  };
}

// reasonOf is the reason of an error, which clients give as Error, as an answer of the server, or not at all.
function reasonOf(e) {
  const text = e instanceof Error ? (e.cause?.cause ?? e.cause?.message ?? e.message) : e?.cause ?? e?.error ?? JSON.stringify(e);
  return String(text).replace(/\s+/g, ' ').slice(0, 160);
}

// within is a promise that must be kept in 20 s.
export function within(promise) {
  return Promise.race([promise, new Promise((_, fail) => setTimeout(() => fail(new Error('nothing came in 20 s')), 20_000).unref())]);
}

// nobody is who asks without a token.
export const nobody = { getAccessToken: async () => '', getAuthContext: async () => ({ userId: '', accessToken: '' }) };
