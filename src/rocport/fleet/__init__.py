"""Many repositories: fetch, scan, port, compile and report each of them, on processes of this machine or on a cluster.

`sources` reads what is to be done and fetches it, `tasks` are the steps of one repository, `child` runs a step in a
process of its own under limits, `store` keeps what a step gave, `driver` leads all repositories through their steps,
`cluster` runs them with Ray, `board` is the page of all of them.
"""
