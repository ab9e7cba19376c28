// An identity provider for the test of single sign-on: oidc-provider, which is certified, with its own pages for signing in.
// It prints its URL. PUT /test sets the redirect URIs and the users, by subject. A user who is missing was removed.
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';

import Provider from 'oidc-provider';

let users = {};
let provider;

// configure starts the provider for the clients "refreshing" and "plain" of a server.
function configure(issuer, { server }) {
  const client = (id, ...grants) => ({
    client_id: id, client_secret: 'a secret of the test', grant_types: ['authorization_code', ...grants],
    redirect_uris: [`${server}/login/oidc/callback`], post_logout_redirect_uris: [`${server}/login?out=1`],
  });
  provider = new Provider(issuer, {
    clients: [client('refreshing', 'refresh_token'), client('plain')],
    claims: { openid: ['sub'], profile: ['preferred_username'], email: ['email', 'email_verified'], groups: ['groups'] },
    cookies: { keys: ['a key of the test'] },
    findAccount: (ctx, sub) => users[sub] && { accountId: sub, claims: () => ({ sub, ...users[sub] }) },
    issueRefreshToken: (ctx, client) => client.grantTypeAllowed('refresh_token'),
    rotateRefreshToken: true,
    ttl: { AccessToken: 300, Grant: 3600, IdToken: 300, Interaction: 600, RefreshToken: 3600, Session: 3600 },
  });
}

const server = createServer(async (request, response) => {
  if (request.method !== 'PUT' || request.url !== '/test') {
    provider.callback()(request, response);
    return;
  }
  const settings = JSON.parse(await text(request));
  users = settings.users;
  if (!provider) configure(`http://127.0.0.1:${server.address().port}`, settings);
  response.end();
});

server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`));
process.stdin.on('end', () => process.exit()).resume(); // ends with the test
