// SPDX-License-Identifier: Apache-2.0
// NVSHMEM's library exports a variable, which torch 2.15 imports; nothing here sets up a transport.

extern "C" {
int nvshmem_selected_device_transport = 0;
}
