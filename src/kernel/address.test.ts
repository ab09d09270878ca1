import { expect, test } from 'vitest'
import { normalizeAddress, PostalAddress } from './address.ts'
import { compileSchema } from './compile-schema.ts'

const PATH = 'body/shipping_address'
const at = (country: string, fields: Partial<PostalAddress> = {}): PostalAddress => ({
  name: 'Ada Byron',
  line1: '1 Analytical Road',
  country,
  ...fields
})
const faultsOf = (address: PostalAddress) =>
  normalizeAddress(address, PATH).faults.map(({ path }) => path.slice(PATH.length + 1))

test.each<[string, Partial<PostalAddress>, string[]]>([
  ['SE', { city: 'Stockholm', postal_code: '114 55' }, []],
  ['SE', { city: 'Stockholm' }, ['postal_code']],
  ['SE', { postal_code: '1145' }, ['city', 'postal_code']],
  ['US', { city: 'Springfield', region: 'OR', postal_code: '97477-1234' }, []],
  ['US', { city: 'Springfield', postal_code: '9747' }, ['region', 'postal_code']],
  ['GB', { city: 'London', postal_code: 'SW1A 1AA' }, []],
  ['GB', { city: 'London', postal_code: 'SW1A' }, ['postal_code']],
  ['CA', { city: 'Ottawa', region: 'ON', postal_code: 'k1a0b1' }, []],
  ['CA', { city: 'Ottawa', region: 'ON', postal_code: 'K1A 0BO' }, ['postal_code']],
  ['DE', { city: 'Berlin', postal_code: 'D-10115' }, []],
  ['DE', {}, ['city', 'postal_code']],
  ['FR', { city: 'Paris', postal_code: '75008' }, []],
  ['NL', { city: 'Amsterdam', postal_code: '1012 AB' }, []],
  ['NL', { city: 'Amsterdam', postal_code: '0012 AB' }, ['postal_code']],
  ['IT', { city: 'Roma', region: 'RM', postal_code: '00184' }, []],
  ['IT', { city: 'Roma', postal_code: '00184' }, ['region']],
  ['ES', { city: 'Madrid', region: 'Madrid', postal_code: '28013' }, []],
  ['PL', { city: 'Warszawa', postal_code: '00-950' }, []],
  ['PT', { city: 'Lisboa', postal_code: '1100-148' }, []],
  ['CH', { city: 'Bern', postal_code: '3011' }, []],
  ['AT', { city: 'Wien', postal_code: '10101' }, ['postal_code']],
  ['IE', { city: 'Dublin' }, []],
  ['IE', { city: 'Dublin', postal_code: 'D02 AF30' }, []],
  ['JP', { region: 'Tokyo', postal_code: '100-0001' }, []],
  ['JP', { city: 'Chiyoda' }, ['region', 'postal_code']],
  ['HK', { region: 'Kowloon' }, []],
  ['HK', {}, ['region']],
  ['SG', { postal_code: '018956' }, []],
  ['SG', {}, ['postal_code']],
  ['AE', { region: 'Dubai' }, []],
  ['BR', { city: 'Rio', region: 'RJ', postal_code: '20040-002' }, []],
  ['AU', { city: 'Sydney', region: 'NSW', postal_code: '2000' }, []],
  ['IN', { city: 'Delhi', region: 'DL', postal_code: '110001' }, []],
  ['CN', { city: '北京', region: '北京', postal_code: '100000' }, []],
  ['MX', { city: 'México', region: 'CDMX', postal_code: '6000' }, ['postal_code']],
  ['GH', { city: 'Accra' }, []],
  ['MO', {}, []]
])('an address in the country %s with the fields %o lacks %j', (country, fields, faults) => {
  expect(faultsOf(at(country, fields))).toEqual(faults)
})

test('address fields are trimmed, and a blank field counts as empty', () => {
  const { address, faults } = normalizeAddress(
    at('SE', { name: ' ', line2: '  ', city: ' Stockholm ', postal_code: '114 55' }),
    PATH
  )
  expect(faults).toEqual([{ path: `${PATH}/name`, message: 'is required' }])
  expect(address).toEqual({
    name: '',
    line1: '1 Analytical Road',
    city: 'Stockholm',
    postal_code: '114 55',
    country: 'SE'
  })
})

test.each([
  ['SE', '070-123 45 67', '+46701234567'],
  ['SE', '+1 (650) 253-0000', '+16502530000'],
  ['US', '(650) 253-0000', '+16502530000'],
  ['GB', '020 7946 0958', '+442079460958'],
  ['IT', '06 6982', '+39066982'],
  ['AQ', '+47 22 12 34 56', '+4722123456']
])('in the country %s, the phone number %s is normalized to %s', (country, phone, number) => {
  expect(normalizeAddress(at(country, { phone }), PATH).address.phone).toBe(number)
  expect(faultsOf(at(country, { phone }))).not.toContain('phone')
})

test.each([
  ['SE', '12'],
  ['SE', 'ask the porter'],
  ['US', 'call 650 253 0000'],
  ['AQ', '22 12 34 56']
])('in the country %s the phone number %s is invalid', (country, phone) => {
  expect(faultsOf(at(country, { phone }))).toContain('phone')
})

test('valid address fields are returned unchanged, and a fault names its field', () => {
  const sent = at('DE', {
    company: 'Engines GmbH',
    city: 'Berlin',
    postal_code: '10115',
    vat_id: 'DE 136 695 976'
  })
  expect(normalizeAddress(sent, PATH)).toEqual({ address: { ...sent, vat_id: 'DE136695976' }, faults: [] })
  expect(normalizeAddress({ ...sent, vat_id: 'DE136695977' }, PATH).faults).toEqual([
    { path: `${PATH}/vat_id`, message: 'must be a VAT id; one of its characters may be wrong' }
  ])
})

test('the address schema accepts its own fields only, and existing countries only', () => {
  const check = compileSchema(PostalAddress)
  expect(check(at('SE', { phone: '1', vat_id: 'x' }))).toEqual([])
  expect(check(at('ZZ'))).toHaveLength(1)
  expect(check({ ...at('SE'), street: 'x' })).toHaveLength(1)
})
