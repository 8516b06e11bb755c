#!/bin/sh
# dfx runs this after it has installed the front: the front lists the volume, and the volume learns
# the front's address. dfx sets DFX_NETWORK. (icp-cli needs no such step: it gives each canister the
# ids of the others as environment variables.)
set -eu

front=$(dfx canister id front --network "$DFX_NETWORK")
volume=$(dfx canister id file_storage --network "$DFX_NETWORK")
url=null
if [ "$DFX_NETWORK" != ic ]; then
  url="opt \"http://$front.localhost:$(dfx info webserver-port)\""
fi
dfx canister call front addVolume "(principal \"$volume\")" --network "$DFX_NETWORK"
dfx canister call file_storage setFront \
  "(opt record { front = principal \"$front\"; url = $url })" --network "$DFX_NETWORK"
