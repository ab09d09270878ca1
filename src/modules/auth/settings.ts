import { patternWithMessage } from '../../kernel/patterns.ts'
import { Type } from '../../kernel/schema.ts'
import {
  booleanSetting,
  integerSetting,
  type SettingsOf,
  secretSetting,
  settingsSection,
  textSetting
} from '../../kernel/settings.ts'

const Issuer = Type.Object(
  {
    issuer: Type.String(
      patternWithMessage('^https?://', 'must be an address such as https://login.example.com')
    ),
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

export const authSettings = settingsSection('Accounts and tokens.', {
  registration: Type.Enum(['open', 'invite', 'closed'], {
    description:
      'Who can register. `open`: every visitor; `invite`: visitors with an invitation code; `closed`: none.',
    default: 'open'
  }),
  email_domains: Type.Array(Type.String({ minLength: 1 }), {
    description: 'E-mail domains that may register. Empty: all domains.',
    default: []
  }),
  password_length_min: integerSetting('Minimum password length, in characters.', 12, 8, 128),
  access_token_seconds: integerSetting('Seconds until an access token expires.', 900, 10, 86_400),
  session_idle_days: integerSetting('Days without a token refresh after which a session expires.', 7, 1, 365),
  session_days: integerSetting(
    'Days after the login when a session expires, even when it is refreshed.',
    30,
    1,
    3_650
  ),
  password_hash_concurrency: integerSetting(
    'Password hashes that are computed simultaneously. Further logins wait.',
    2,
    1,
    64
  ),
  failed_logins_max: integerSetting(
    'Failed logins to one account from one network within 15 minutes, before further ones are refused.',
    10,
    1,
    1_000
  ),
  login_per_minute: integerSetting('Logins and token refreshes per minute and client address.', 30),
  register_per_minute: integerSetting('Registrations per minute and client address.', 10),
  require_verified_email: booleanSetting(
    'Whether customers must verify their e-mail address before they can log in. Existing sessions are kept.',
    false
  ),
  addresses_max: integerSetting('Maximum number of addresses per account.', 50, 1, 1_000),
  verification_hours: integerSetting(
    'Hours until a token that verifies an e-mail address expires.',
    48,
    1,
    720
  ),
  password_reset_minutes: integerSetting('Minutes until a password reset token expires.', 60, 5, 1_440),
  messages_per_hour: integerSetting(
    'Mails per hour and e-mail address, counted separately for verification, change of address and password reset.',
    5,
    1,
    1_000
  ),
  require_second_factor: booleanSetting(
    'Whether administrators need a second factor. Without one, an administrator can only call the routes that enroll it.',
    false
  ),
  api_keys_max: integerSetting('Maximum number of API keys per administrator.', 20, 1, 1_000),
  exports_per_minute: integerSetting('Exports of personal data per minute and account.', 6),
  admin_email: textSetting(
    'E-mail address of the administrator that the start creates when there is no administrator. CARTWRIGHT_ADMIN_EMAIL sets it too.',
    ''
  ),
  admin_password: secretSetting('Password of that administrator. CARTWRIGHT_ADMIN_PASSWORD sets it too.'),
  issuers: Type.Array(Issuer, {
    description:
      'OpenID Connect issuers whose access tokens are accepted, each with issuer, audience and algorithms (RS256). admin_claim { path, value } marks administrators. scopes_claim is the path of the list of modules that such an administrator can manage; without it, all. second_factor { acr, amr } lists the claim values that prove a second factor; without it, no token does.',
    default: []
  })
})

export type AuthSettings = SettingsOf<typeof authSettings>

/** Short environment variables for common settings. */
export const authShortEnvironmentNames = {
  CARTWRIGHT_ADMIN_EMAIL: 'admin_email',
  CARTWRIGHT_ADMIN_PASSWORD: 'admin_password'
} as const
