# SPDX-License-Identifier: Apache-2.0
"""Recording in the words of training libraries; each module imports its library when it is imported itself."""
