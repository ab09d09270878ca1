import { matching } from '../../kernel/patterns.ts'
import { Type } from '../../kernel/schema.ts'
import { count, flag, type SettingsOf, secret, section, text } from '../../kernel/settings.ts'

const Issuer = Type.Object(
  {
    issuer: Type.String(matching('^https?://', 'must be an address such as https://login.example.com')),
    audience: Type.String({ minLength: 1 }),
    algorithms: Type.Optional(
      Type.Array(Type.Enum(['RS256', 'PS256', 'ES256', 'ES384', 'EdDSA']), { minItems: 1 })
    ),
    admin_claim: Type.Optional(
      Type.Object(
        { path: Type.String({ minLength: 1 }), value: Type.String({ minLength: 1 }) },
        { additionalProperties: false }
      )
    ),
    scopes_claim: Type.Optional(Type.String({ minLength: 1 })),
    second_factor: Type.Optional(
      Type.Object(
        {
          acr: Type.Optional(Type.Array(Type.String({ minLength: 1 }), { minItems: 1 })),
          amr: Type.Optional(Type.Array(Type.String({ minLength: 1 }), { minItems: 1 }))
        },
        { additionalProperties: false }
      )
    )
  },
  { additionalProperties: false }
)

export const authSettings = section('Accounts and tokens.', {
  registration: Type.Enum(['open', 'invite', 'closed'], {
    description: 'Who may register: everybody, holders of an invitation code, nobody.',
    default: 'open'
  }),
  email_domains: Type.Array(Type.String({ minLength: 1 }), {
    description: 'The only domains of e-mail addresses that may register; empty: any.',
    default: []
  }),
  password_length_min: count('The shortest password accepted, in characters.', 12, 8, 128),
  access_token_seconds: count('How long an access token lives, in seconds.', 900, 10, 86_400),
  session_idle_days: count('A session not refreshed for so long has ended, in days.', 7, 1, 365),
  session_days: count('A session ends after this, refreshed or not, in days.', 30, 1, 3_650),
  password_hashes_at_once: count('Password hashes computed at once; more wait.', 2, 1, 64),
  failed_logins_max: count(
    'Failed log-ins of one account from one network before it must wait; they are forgotten after 15 minutes.',
    10,
    1,
    1_000
  ),
  login_per_minute: count('Log-ins and token refreshes a minute and client address.', 30),
  register_per_minute: count('Registrations a minute and client address.', 10),
  require_verified_email: flag(
    'Whether customers log in only once their e-mail address is verified. Who is logged in stays so.',
    false
  ),
  addresses_max: count('The most addresses that an account keeps.', 50, 1, 1_000),
  verification_hours: count(
    'How long the token that verifies an e-mail address is good, in hours.',
    48,
    1,
    720
  ),
  password_reset_minutes: count(
    'How long the token that sets a new password is good, in minutes.',
    60,
    5,
    1_440
  ),
  messages_per_hour: count(
    'Messages that one address is sent in an hour: to verify it, to take it for an account, to set a new password; of each so many.',
    5,
    1,
    1_000
  ),
  require_second_factor: flag(
    'Whether administrators need a second factor. One who has none reaches only the routes that enrol it.',
    false
  ),
  api_keys_max: count('The most API keys of one administrator.', 20, 1, 1_000),
  exports_per_minute: count('Exports of all that is kept of somebody, a minute and account.', 6),
  admin_email: text(
    'E-mail of the administrator made at start when there is none. CARTWRIGHT_ADMIN_EMAIL sets it too.',
    ''
  ),
  admin_password: secret('Their password. CARTWRIGHT_ADMIN_PASSWORD sets it too.'),
  issuers: Type.Array(Issuer, {
    description:
      'OpenID Connect issuers whose access tokens are accepted beside our own: issuer, audience, algorithms (RS256), admin_claim { path, value }, scopes_claim (the path of a list of modules that such an administrator may look after; without it, all), second_factor { acr, amr } (lists of values of these claims, one of which shows that the caller used a second factor there; without it, none did).',
    default: []
  })
})

export type AuthSettings = SettingsOf<typeof authSettings>

/** Variables that hosting platforms and habits expect. */
export const authShortNames = {
  CARTWRIGHT_ADMIN_EMAIL: 'admin_email',
  CARTWRIGHT_ADMIN_PASSWORD: 'admin_password'
} as const
