import { describeContract } from './describe-contract.ts'

describeContract('catalog', 'diagnostics', 'inventory', 'reviews')
